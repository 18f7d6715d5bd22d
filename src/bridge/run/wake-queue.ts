import type { Wake } from '../../client/wakes/wake.ts'
import { BackOff } from '../../lib/back-off.ts'
import { sleep, systemClock } from '../../lib/clock.ts'
import { untilAborted } from '../../lib/until-aborted.ts'
import { within } from '../../lib/within.ts'
import type { ReceiptStep } from '../../words/receipts.ts'
import { namedSenders } from '../sender.ts'
import { isWakeId } from '../wake-text.ts'
import { type AttemptEnd, type AttemptParts, attempt, giveUp, heldDetail } from './attempt.ts'
import { LeftSubscriptions } from './left-subscriptions.ts'
import { OneAtATime } from './one-at-a-time.ts'
import type { OutgoingReceipt } from './receipt-outbox.ts'
import { sendersMax } from './senders-of.ts'
import { subscriptionOf, WakeRecords } from './wake-records.ts'

/** A wake that is not handed over yet, or that its harness has not begun. Instants in ms since the epoch. */
export interface HeldWake {
  readonly wake: Wake
  readonly reason: string
  readonly since: number
  /** Tried again then at the latest; absent: its harness has it. */
  readonly nextAt?: number
  /** Its harness has it, and it is given up then. */
  readonly givenUpAt?: number
}

/** The parts that a queue of wakes works with. */
interface QueueParts extends Omit<AttemptParts, 'senders' | 'guard' | 'report' | 'signal'> {
  /** The name of the agent in the journal. */
  readonly agent: string
  readonly guard: (senders: readonly string[]) => ReturnType<AttemptParts['guard']>
  /** Whose acts a wake is about. */
  readonly sendersOf: (wake: Wake, signal: AbortSignal) => Promise<readonly string[]>
  readonly send: (receipt: OutgoingReceipt, givenUp?: () => Promise<void>) => void
  /** Resolves when something changes that a held wake may wait for, or the signal aborts. */
  readonly changed: (end: AttemptEnd, signal: AbortSignal) => Promise<void>
  /** True when its reader has read meanwhile what a held wake is about. */
  readonly isRead: (wake: Wake, signal: AbortSignal) => Promise<boolean>
  /** The agents beside its senders that have written since a wake was made. */
  readonly otherWriters: (wake: Wake, senders: readonly string[], signal: AbortSignal) => Promise<readonly string[]>
  /** A line for the user. */
  readonly note: (text: string) => void
}

const retryMs = { first: 5_000, max: 30_000, min: 250, minAfterTurn: 1_000 } as const
/** More than a gateway has open for one agent: what is dropped comes again. */
const waitingMax = 1_000
const testsMax = 4
/** A caller that tries a route waits for the act that runs, no longer than this. */
const testWaitMs = 10_000

/**
 * Handles the wakes of one agent in order, one at a time: each is handed over once; for a repeated one the outcome is reported again. All
 * go to one conversation, so a reason that holds one holds the later ones too, except the limit for one sender, for which only the wakes of
 * that sender wait. A test wake is answered at once. Source: S1-19, S1-34.
 */
export class WakeQueue {
  readonly #parts: QueueParts
  readonly #record: WakeRecords
  readonly #waiting: Wake[] = []
  readonly #stopping = new AbortController()
  readonly #left = new LeftSubscriptions()
  #working: Promise<void> | undefined
  #current: Wake | undefined
  #held: HeldWake | undefined
  /** Two attempts at once would begin two turns. */
  readonly #acts = new OneAtATime()
  readonly #tests = new Set<string>()
  /** Ends the wait of a wake that holds up others. */
  #noteArrival = () => {}

  constructor(parts: QueueParts) {
    this.#parts = parts
    this.#record = new WakeRecords(parts)
  }

  add(wake: Wake): void {
    if (this.#stopping.signal.aborted || this.#waiting.length >= waitingMax) return
    if (!isWakeId(wake.eventId)) {
      this.#record.leaveOut('has no ULID as its eventId')
      return
    }
    // A stream that is opened again brings what has no end yet.
    const known = [this.#current, ...this.#waiting].map((one) => one?.eventId)
    if (known.includes(wake.eventId) || this.#tests.has(wake.eventId)) return
    if (wake.eventType === 'wake/test') return void this.#test(wake)
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
    this.#left.leave(subscriptionId)
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
      const signal = this.#signalOf(wake)
      try {
        await this.#workOn(wake, signal)
      } catch (error) {
        // The journal cannot be written. Its record is unchanged, and the wake is tried again.
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
    const { journal, agent, now, isRead, sendersOf } = this.#parts
    const accepted = this.#record.accept(wake)
    if (accepted === undefined) return
    const own = await sendersOf(wake, signal)
    let senders = own
    const parts = { ...this.#partsOf(wake, () => senders, signal), senders: own }
    const backOff = new BackOff(retryMs)
    const since = now()
    while (!signal.aborted) {
      const record = journal.find(wake.eventId, agent) ?? accepted
      const end = await this.#acts.run(() => attempt(wake, record, parts))
      if (end.step === 'stopped') return
      if (end.step !== 'held') return this.#record.end(wake, end)
      parts.report('held', heldDetail(end), end.by)
      if (end.isOfSender && senders.length < sendersMax) {
        const others = await this.#heldUp(wake, senders, signal)
        // A turn may begin for the other senders. It mentions the mail of both.
        senders = [...senders, ...others].slice(0, sendersMax)
        if (others.length > 0) continue
      }
      const givenUpAt = end.isWithHarness && (record.handedOverAt ?? now()) + parts.patienceMs
      if (givenUpAt && givenUpAt <= now()) {
        return this.#record.end(wake, await giveUp(wake.eventId, end, parts))
      }
      const longestMs = end.isOfSender ? retryMs.max : Number.POSITIVE_INFINITY
      const leastMs = end.isTurn ? retryMs.minAfterTurn : retryMs.min
      const waitMs = Math.min(longestMs, Math.max(leastMs, end.retryAfterMs ?? backOff.next()))
      this.#held = { wake, reason: end.detail, since, nextAt: now() + waitMs, ...(givenUpAt ? { givenUpAt } : {}) }
      await this.#pause(end, leastMs, waitMs, signal)
      if (signal.aborted || end.isWithHarness || !(await isRead(wake, signal))) continue
      return this.#record.end(wake, { step: 'seen', detail: 'its reader has read it without a wake' })
    }
  }

  /** Answers a test wake at once, by the same rules: it never waits for a held wake. Never rejects. */
  async #test(wake: Wake): Promise<void> {
    if (this.#tests.size >= testsMax) return
    this.#tests.add(wake.eventId)
    const signal = this.#signalOf(wake)
    try {
      const accepted = this.#record.accept(wake)
      if (accepted === undefined) return
      const parts = { ...this.#partsOf(wake, () => [], signal), patienceMs: 0 }
      const end = (await this.#busyReason(signal)) ?? (await this.#acts.run(() => attempt(wake, accepted, parts)))
      if (end.step !== 'held') return this.#record.end(wake, end)
      parts.report('held', heldDetail(end), end.by)
      this.#record.end(wake, { ...end, step: 'refused', detail: heldDetail(end) })
    } catch (error) {
      this.#parts.note(`The test ${wake.eventId} is not answered: ${(error as Error).message}`)
    } finally {
      this.#tests.delete(wake.eventId)
      this.#forgetUnused(subscriptionOf(wake))
    }
  }

  /** Why a test cannot be tried, after a wait for the current hand-over; undefined: it can. */
  async #busyReason(signal: AbortSignal): Promise<Extract<AttemptEnd, { step: 'held' }> | undefined> {
    const inHarness = () => this.#held?.givenUpAt !== undefined
    using late = within(testWaitMs, signal)
    if (this.#acts.working && !inHarness()) await Promise.race([this.#acts.working, untilAborted(late.signal)])
    if (!this.#acts.working && !inHarness()) return undefined
    const detail = inHarness()
      ? `another wake waits in the harness: ${this.#held?.reason}`
      : 'another wake is handed over'
    return { step: 'held', detail, reason: 'turn_active' }
  }

  /** Waits for a change, at least `leastMs` (a harness reports many changes at once) and at most `waitMs`. */
  async #pause(end: AttemptEnd, leastMs: number, waitMs: number, signal: AbortSignal): Promise<void> {
    const over = new AbortController()
    const either = AbortSignal.any([over.signal, signal])
    const first = sleep(systemClock, leastMs, either)
    const arrival = new Promise<void>((resolve) => {
      this.#noteArrival = end.isOfSender ? resolve : () => {}
    })
    await Promise.race([this.#parts.changed(end, either), sleep(systemClock, waitMs, either), arrival])
    await first
    over.abort()
  }

  /** The senders whose mail is blocked by a wake that waits for the limit of its senders: mail that is here, or still at the gateway. */
  async #heldUp(wake: Wake, senders: readonly string[], signal: AbortSignal): Promise<readonly string[]> {
    if (signal.aborted) return []
    const here = this.#waiting.flatMap(namedSenders).filter((one) => !senders.includes(one))
    return here.length > 0 ? [...new Set(here)] : this.#parts.otherWriters(wake, senders, signal)
  }

  #partsOf(wake: Wake, senders: () => readonly string[], signal: AbortSignal): AttemptParts {
    const { journal, gateway, adapter, row, choose, lookFor, watch, now, guard, patienceMs } = this.#parts
    const isTest = wake.eventType === 'wake/test'
    const said = new Map<ReceiptStep, string>()
    const report: AttemptParts['report'] = (step, detail, by) => {
      // The same is reported at each try, and by an adapter again and again while it waits.
      if (said.get(step) === detail) return
      said.set(step, detail)
      if (step === 'held' && !isTest) {
        const { since = now(), givenUpAt = now() + patienceMs } = this.#held ?? {}
        this.#held = { wake, reason: detail, since, givenUpAt }
      }
      this.#record.step(wake, { step, detail, by })
    }
    const parts = { journal, gateway, adapter, row, choose, lookFor, watch, now, patienceMs, report, signal }
    return { ...parts, senders: [], guard: () => guard(senders()) }
  }

  #signalOf(wake: Wake): AbortSignal {
    return AbortSignal.any([this.#stopping.signal, this.#left.signalOf(subscriptionOf(wake))])
  }

  #forgetUnused(subscriptionId: string): void {
    const isUsed = [...this.#waiting, this.#current].some((wake) => wake && subscriptionOf(wake) === subscriptionId)
    if (!isUsed && this.#tests.size === 0) this.#left.forget(subscriptionId)
  }
}
