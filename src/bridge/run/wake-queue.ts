import type { Wake } from '../../client/wakes/wake.ts'
import { sleep, systemClock } from '../../lib/clock.ts'
import type { ReceiptStep } from '../../wakes/rules/receipts.ts'
import type { WakeRecord } from '../journal/journal.ts'
import { senderOf } from '../sender.ts'
import { isWakeId } from '../wake-text.ts'
import { type AttemptEnd, type AttemptParts, attempt } from './attempt.ts'
import { heldDetail } from './held-detail.ts'
import type { OutgoingReceipt } from './receipt-outbox.ts'
import { receiptOf, type Said } from './said.ts'

/** A wake that is not handed over yet, or that its harness has not begun. Instants in ms since the epoch. */
export interface HeldWake {
  readonly wake: Wake
  readonly reason: string
  readonly since: number
  /** Tried again then at the latest; absent: its harness has it. */
  readonly nextAt?: number
}

/** What a queue of wakes works with. */
interface QueueParts
  extends Pick<AttemptParts, 'journal' | 'gateway' | 'adapter' | 'row' | 'choose' | 'lookFor' | 'now'> {
  /** The name of the agent in the journal. */
  readonly agent: string
  readonly guard: (sender: string | null) => ReturnType<AttemptParts['guard']>
  readonly send: (receipt: OutgoingReceipt) => void
  /** Resolves when something changes that a held wake may wait for, or the signal aborts. */
  readonly changed: (end: AttemptEnd, signal: AbortSignal) => Promise<void>
  /** Whether its reader has read meanwhile what a held wake is about. */
  readonly isRead: (wake: Wake, signal: AbortSignal) => Promise<boolean>
  /** Whether somebody else than its sender has written since a wake was made. */
  readonly haveOthersWritten: (wake: Wake, sender: string, signal: AbortSignal) => Promise<boolean>
  /** A line for the user. */
  readonly note: (text: string) => void
}

const retryMs = { first: 5_000, max: 30_000, min: 250 } as const
/** More than a gateway has open for one agent: what is dropped comes again. */
const waitingMax = 1_000

/**
 * Works on the wakes of one agent, one after the other: each is handed over once, or its end is told again. They are for one
 * conversation, so what holds one holds the others too; but for the limit of one sender, which only its own wakes wait for. Source:
 * S1-19, S1-34.
 */
export class WakeQueue {
  readonly #parts: QueueParts
  readonly #waiting: Wake[] = []
  readonly #stopping = new AbortController()
  /** Of each subscription that is not read any more. */
  readonly #gone = new Map<string, AbortController>()
  #working: Promise<void> | undefined
  #current: Wake | undefined
  #held: HeldWake | undefined
  /** Ends the wait of a wake that holds up others. */
  #noteArrival = () => {}
  readonly #notedUnfit = new Set<string>()

  constructor(parts: QueueParts) {
    this.#parts = parts
  }

  add(wake: Wake): void {
    if (this.#stopping.signal.aborted || this.#waiting.length >= waitingMax) return
    if (!isWakeId(wake.eventId)) {
      this.#noteUnfit('has no ULID as its eventId')
      return
    }
    if ([this.#current, ...this.#waiting].some((one) => one?.eventId === wake.eventId)) return
    this.#waiting.push(wake)
    this.#noteArrival()
    this.#working ??= this.#work().finally(() => {
      this.#working = undefined
    })
  }

  get held(): HeldWake | undefined {
    return this.#held
  }

  get waiting(): number {
    return this.#waiting.length
  }

  /** Drops what was not handed over for a subscription that is not read any more. */
  leave(subscriptionId: string): void {
    this.#goneOf(subscriptionId).abort()
    this.#gone.delete(subscriptionId)
    const kept = this.#waiting.filter((wake) => wake.subscriptionId !== subscriptionId)
    this.#waiting.splice(0, this.#waiting.length, ...kept)
  }

  /** Begins nothing more. Resolves when the work has ended: adapters end when the signal aborts. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#waiting.length = 0
    await this.#working
  }

  async #work(): Promise<void> {
    for (let wake = this.#waiting.shift(); wake; wake = this.#waiting.shift()) {
      this.#current = wake
      const signal = AbortSignal.any([this.#stopping.signal, this.#goneOf(subscriptionOf(wake)).signal])
      try {
        await this.#workOn(wake, signal)
      } catch (error) {
        // The journal cannot be written. What is on record stands, and the wake is begun again.
        this.#parts.note(`The wake ${wake.eventId} waits: ${(error as Error).message}`)
        await sleep(systemClock, retryMs.max, signal)
        if (!signal.aborted) this.#waiting.unshift(wake)
      } finally {
        this.#current = undefined
        this.#held = undefined
        this.#forgetUnused(subscriptionOf(wake))
      }
    }
  }

  async #workOn(wake: Wake, signal: AbortSignal): Promise<void> {
    const { journal, agent, now, isRead } = this.#parts
    const sender = senderOf(wake)
    const named = { id: wake.eventId, agent, subscriptionId: subscriptionOf(wake), sender }
    const accepted = journal.accept(named)
    if (accepted === undefined) return this.#noteUnfit('has the eventId of a wake of another agent')
    if (accepted.endedAt !== null) return this.#repeat(accepted)
    this.#send(wake.eventId, { step: 'accepted', detail: 'journal of the bridge' })
    let limited = sender
    const parts = this.#partsOf(wake, () => limited, signal)
    let delayMs: number = retryMs.first
    for (const since = now(); !signal.aborted; delayMs = Math.min(delayMs * 2, retryMs.max)) {
      const end = await attempt(wake, journal.find(wake.eventId, agent) ?? accepted, parts)
      if (end.step === 'stopped') return
      if (end.step !== 'held') return this.#end(wake, end)
      parts.report('held', heldDetail(end), end.by)
      // Who tries a route wants to know how it is now.
      if (wake.eventType === 'wake/test' && !end.isWithHarness)
        return this.#end(wake, { ...end, step: 'refused', detail: heldDetail(end) })
      if (end.isOfPair && (await this.#holdsUpOthers(wake, sender, signal))) {
        // A turn begins anyway: for the others. It may as well tell of both.
        limited = null
        continue
      }
      const longestMs = end.isOfPair ? retryMs.max : Number.POSITIVE_INFINITY
      const waitMs = Math.min(longestMs, Math.max(retryMs.min, end.retryAfterMs ?? delayMs))
      this.#held = { wake, reason: end.detail, since, nextAt: now() + waitMs }
      await this.#pause(end, waitMs, signal)
      if (signal.aborted || end.isWithHarness || !(await isRead(wake, signal))) continue
      return this.#end(wake, { step: 'seen', detail: 'its reader has read it without a wake' })
    }
  }

  /** Waits for a change, no longer than that, and not shorter than a moment: a harness tells many changes at once. */
  async #pause(end: AttemptEnd, waitMs: number, signal: AbortSignal): Promise<void> {
    const over = new AbortController()
    const either = AbortSignal.any([over.signal, signal])
    const first = sleep(systemClock, retryMs.min, either)
    const arrival = new Promise<void>((resolve) => {
      this.#noteArrival = end.isOfPair ? resolve : () => {}
    })
    await Promise.race([this.#parts.changed(end, either), sleep(systemClock, waitMs, either), arrival])
    await first
    over.abort()
  }

  /** Whether a wake that waits for the limit of its sender keeps others from being heard: here, or behind it at the gateway. */
  async #holdsUpOthers(wake: Wake, sender: string | null, signal: AbortSignal): Promise<boolean> {
    if (sender === null || signal.aborted) return false
    const others = this.#waiting.map(senderOf).filter((one) => one !== sender)
    return others.length > 0 || (await this.#parts.haveOthersWritten(wake, sender, signal))
  }

  #noteUnfit(why: string): void {
    // A gateway that sends one may send a hundred thousand.
    if (!this.#notedUnfit.has(why)) this.#parts.note(`The gateway sends a wake that ${why}: it is left out.`)
    this.#notedUnfit.add(why)
  }

  #end({ eventId: id }: Wake, end: AttemptEnd): void {
    const { step, detail, by } = end
    if (step === 'stopped') return
    try {
      this.#parts.journal.end(id, step, detail)
    } catch (error) {
      // It has happened all the same. When it comes again, it is looked for.
      this.#parts.note(`The end of the wake ${id} is not on record: ${(error as Error).message}`)
    }
    this.#send(id, { step, detail, by, isEnd: true })
  }

  #repeat({ id, step, detail, harness }: WakeRecord): void {
    this.#send(id, { step, detail, by: harness ?? undefined, isEnd: true })
  }

  #partsOf(wake: Wake, limited: () => string | null, signal: AbortSignal): AttemptParts {
    const { journal, gateway, adapter, row, choose, lookFor, now, guard } = this.#parts
    const said = new Map<ReceiptStep, string>()
    const report: AttemptParts['report'] = (step, detail, by) => {
      // The same is said at each try, and by an adapter again and again while it waits.
      if (said.get(step) === detail) return
      said.set(step, detail)
      if (step === 'held') this.#held = { wake, reason: detail, since: this.#held?.since ?? now() }
      try {
        journal.note(wake.eventId, step, detail)
      } catch (error) {
        this.#parts.note(`A step of the wake ${wake.eventId} is not on record: ${(error as Error).message}`)
      }
      this.#send(wake.eventId, { step, detail, by })
    }
    return { journal, gateway, adapter, row, choose, lookFor, now, report, signal, guard: () => guard(limited()) }
  }

  #send(eventId: string, said: Said): void {
    this.#parts.send(receiptOf(eventId, said, this.#parts.now()))
  }

  /** A gateway names as many subscriptions as it likes. */
  #forgetUnused(subscriptionId: string): void {
    if (!this.#waiting.some((wake) => subscriptionOf(wake) === subscriptionId)) this.#gone.delete(subscriptionId)
  }

  #goneOf(subscriptionId: string): AbortController {
    const known = this.#gone.get(subscriptionId)
    if (known) return known
    const gone = new AbortController()
    this.#gone.set(subscriptionId, gone)
    return gone
  }
}

/** A gateway may send anything there. */
const subscriptionOf = ({ subscriptionId }: Wake): string =>
  typeof subscriptionId === 'string' ? subscriptionId.slice(0, 200) : ''
