import type { Clock } from '../lib/clock.ts'

/** The shortest delay of the timer: many calls that expire one after the other are ended in groups. */
const timerMinMs = 100
/** The longest delay of the timer. Node runs a timer above 2^31 - 1 ms at once. */
const timerMaxMs = 24 * 60 * 60 * 1_000

/**
 * Aborts each open call when its credential expires, at most a tenth of a second later. One timer waits for the next expiry, however many
 * calls are open. It counts time that passes: if the clock is set forward, `endExpired` has to be called.
 */
export class CallExpiries implements Disposable {
  readonly #clock: Clock
  /** When the credential of each call expires, ms since the epoch. Calls whose credential does not expire are not in it. */
  readonly #expiries = new Map<AbortController, number>()
  /** The instant that the timer is set for, ms since the epoch; infinity: there is no timer. */
  #nextAt = Number.POSITIVE_INFINITY
  #cancel = () => {}
  #isDisposed = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** `expiresAt`: ms since the epoch; undefined: never. */
  add(call: AbortController, expiresAt: number | undefined): void {
    if (expiresAt === undefined || this.#isDisposed) return
    this.#expiries.set(call, expiresAt)
    if (expiresAt < this.#nextAt) this.#setTimer(expiresAt)
  }

  /** The timer stays: it costs less to find nothing then than to look for the next expiry at the end of each call. */
  delete(call: AbortController): void {
    this.#expiries.delete(call)
  }

  /** Aborts the calls whose credential has expired, and sets the timer for the next. */
  readonly endExpired = (): void => {
    const now = this.#clock.now()
    let nextAt = Number.POSITIVE_INFINITY
    const expired: AbortController[] = []
    for (const [call, expiresAt] of this.#expiries) {
      if (expiresAt <= now) expired.push(call)
      else nextAt = Math.min(nextAt, expiresAt)
    }
    for (const call of expired) this.#expiries.delete(call)
    this.#setTimer(nextAt)
    for (const call of expired) call.abort('expired')
  };

  [Symbol.dispose](): void {
    this.#isDisposed = true
    this.#expiries.clear()
    this.#setTimer(Number.POSITIVE_INFINITY)
  }

  #setTimer(at: number): void {
    this.#cancel()
    this.#cancel = () => {}
    this.#nextAt = at
    if (at === Number.POSITIVE_INFINITY) return
    const delayMs = Math.min(Math.max(timerMinMs, at - this.#clock.now()), timerMaxMs)
    this.#cancel = this.#clock.after(delayMs, this.endExpired)
  }
}
