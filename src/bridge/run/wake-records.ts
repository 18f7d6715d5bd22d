import type { Wake } from '../../client/wakes/wake.ts'
import type { ReceiptStep } from '../../words/receipts.ts'
import { sourceKind } from '../../words/sender-view.ts'
import type { AdapterId } from '../adapter.ts'
import type { Journal, WakeRecord } from '../journal/journal.ts'
import { senderOf } from '../sender.ts'
import type { AttemptEnd } from './attempt.ts'
import type { OutgoingReceipt } from './receipt-outbox.ts'

const proofs: ReadonlySet<ReceiptStep> = new Set([
  'accepted',
  'routed',
  'written',
  'delivered',
  'turn_started',
  'seen',
  'acked',
])

interface RecordParts {
  readonly journal: Journal
  /** The name of the agent in the journal. */
  readonly agent: string
  readonly now: () => number
  /** `givenUp`: called when the gateway answers that it does not send the wake again. */
  readonly send: (receipt: OutgoingReceipt, givenUp?: () => Promise<void>) => void
  /** A line for the user. */
  readonly note: (text: string) => void
}

/** The journal's records of the wakes of one agent, and the receipts that are sent for them. */
export class WakeRecords {
  readonly #parts: RecordParts
  readonly #notedUnfit = new Set<string>()

  constructor(parts: RecordParts) {
    this.#parts = parts
  }

  /** Notes that a wake has come; undefined: there is nothing to do about it. Errors: of the journal. */
  accept(wake: Wake): WakeRecord | undefined {
    const { journal, agent } = this.#parts
    const named = { id: wake.eventId, agent, subscriptionId: subscriptionOf(wake), sender: senderOf(wake) }
    const accepted = journal.accept(named)
    if (accepted === undefined) this.leaveOut('has the eventId of a wake of another agent')
    else if (accepted.endedAt !== null) this.#repeat(accepted)
    else this.#send(wake.eventId, { step: 'accepted', detail: 'journal of the bridge' })
    return accepted?.endedAt === null ? accepted : undefined
  }

  /** Notes a step on the way, and reports it. */
  step({ eventId: id }: Wake, said: Pick<StepReport, 'step' | 'detail' | 'by'>): void {
    try {
      this.#parts.journal.note(id, said.step, said.detail)
    } catch (error) {
      this.#parts.note(`A step of the wake ${id} is not on record: ${(error as Error).message}`)
    }
    this.#send(id, said)
  }

  /** Notes the end of a wake, and reports it. Never throws. */
  end({ eventId: id }: Wake, end: AttemptEnd): void {
    const { step, detail, by } = end
    if (step === 'stopped') return
    try {
      this.#parts.journal.end(id, step, detail)
    } catch (error) {
      // It has happened all the same. When it comes again, it is looked for.
      this.#parts.note(`The end of the wake ${id} is not on record: ${(error as Error).message}`)
    }
    this.#send(id, { step, detail, by, isEnd: true }, step === 'failed' ? end.givenUp : undefined)
  }

  /** Tells the user that a wake of the gateway is of no use. */
  leaveOut(why: string): void {
    // A gateway that sends one may send a hundred thousand.
    if (!this.#notedUnfit.has(why)) this.#parts.note(`The gateway sends a wake that ${why}: it is left out.`)
    this.#notedUnfit.add(why)
  }

  #repeat({ id, step, detail, harness }: WakeRecord): void {
    this.#send(id, { step, detail, by: harness ?? undefined, isEnd: true })
  }

  #send(eventId: string, said: StepReport, givenUp?: () => Promise<void>): void {
    this.#parts.send(receiptOf(eventId, said, this.#parts.now()), givenUp)
  }
}

/** A gateway may send anything there. */
export const subscriptionOf = ({ subscriptionId }: Wake): string =>
  typeof subscriptionId === 'string' ? subscriptionId.slice(0, 200) : ''

/** A step of a wake, as the bridge reports it. */
interface StepReport {
  readonly step: ReceiptStep
  readonly detail: string
  readonly by?: AdapterId | undefined
  /** Nothing more will be known. */
  readonly isEnd?: true
}

/** Returns the receipt of a step: what happened has its proof as the source, what did not happen only its reason. `now`: ms since the epoch. Pure. */
function receiptOf(eventId: string, { step, detail, by, isEnd }: StepReport, now: number): OutgoingReceipt {
  // The senders read the first word, where they may: of an adapter that they do not know, that it was the bridge.
  const way = by === undefined || sourceKind(by) === by ? by : `bridge: ${by}`
  const proof = way === undefined ? detail : `${way}: ${detail}`
  const source = proofs.has(step) ? proof : way
  const final = isEnd && step === 'written' ? { isFinal: true as const } : {}
  return {
    eventId,
    step,
    at: new Date(now).toISOString(),
    detail,
    ...(source === undefined ? {} : { source }),
    ...final,
  }
}
