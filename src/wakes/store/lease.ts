import type { Subscription } from '../../registry/subscriptions/subscription.ts'

/** The progress of a subscription: the fields that a delivery changes. */
export interface Progress {
  /** Everything up to this logId is decided. */
  readonly cursorLogId: number
  /** The newest logId that was sent: the receiver's watermark. */
  readonly lastEmittedLogId: number | null
  readonly failedInARow: number
  /** `leading` mode: until then events wait for a digest. ms since the epoch */
  readonly windowUntil: number
}

/** The fields that identify a lease: a write with an older lease of the subscription changes nothing. */
export interface LeaseKey {
  readonly subscriptionId: string
  readonly owner: string
}

/** A gateway yields a busy subscription after this long, so that another one can take it. */
const yieldAfterMs = 2_000

/**
 * A subscription that is being worked on, as the run that works on it knows it. The store has the truth: `isLost` follows it
 * with a delay, and every write repeats `owner` in its `where`.
 */
export class Lease implements LeaseKey {
  readonly subscriptionId: string
  /** Whose events these are: an agent's id, or a task's. */
  readonly audience: string
  readonly owner: string
  /** The generation of the subscription when it was leased. */
  readonly generation: number
  /** The position from which on nothing has failed under this lease: a recovery may go back to one before it. */
  unfailedFrom: number
  /** When its work began, ms since the epoch. */
  readonly #since: number
  #progress: Progress
  #isLost = false
  #hasAnnounced = false
  #hasSentReleased = false

  constructor(subscription: Subscription, owner: string, since: number) {
    const { id, audience, generation, cursorLogId, lastEmittedLogId, failedInARow, windowUntil } = subscription
    this.subscriptionId = id
    this.audience = audience
    this.owner = owner
    this.generation = generation
    this.#since = since
    this.#progress = { cursorLogId, lastEmittedLogId, failedInARow, windowUntil }
    this.unfailedFrom = cursorLogId
  }

  /** Includes deliveries whose record is still on its way to the store. */
  get progress(): Progress {
    return this.#progress
  }

  advance(progress: Progress): void {
    if (progress.failedInARow > 0) this.unfailedFrom = progress.cursorLogId
    this.#progress = progress
  }

  /** Moves the cursor over events that were not for this subscription. The next record or the release writes it. */
  skipTo(logId: number): void {
    if (logId > this.#progress.cursorLogId) this.#progress = { ...this.#progress, cursorLogId: logId }
  }

  /** True after the lease ended: another run has it, it was requeued, or its subscription was degraded, changed or removed. */
  get isLost(): boolean {
    return this.#isLost
  }

  lose(): void {
    this.#isLost = true
  }

  /** True when a digest under this lease already has what waited from before the cursor. */
  get hasAnnounced(): boolean {
    return this.#hasAnnounced
  }

  announced(): void {
    this.#hasAnnounced = true
  }

  /** True when a digest under this lease already has what presence held and no longer holds. */
  get hasSentReleased(): boolean {
    return this.#hasSentReleased
  }

  sentReleased(): void {
    this.#hasSentReleased = true
  }

  /** True when it has been worked on long enough for other gateways to take over. */
  isDueToYield(now: number): boolean {
    return now - this.#since >= yieldAfterMs
  }
}
