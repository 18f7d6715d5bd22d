import type { Clock } from '../../lib/clock.ts'

/** A caller is active for this long after its last request, in ms. */
const activeMs = 1_000

/** Knows whether several callers are active: one that is alone is not held back. */
export class Company {
  readonly #clock: Clock
  /** The last two callers that are not the same. */
  #latest = { id: '', at: Number.NEGATIVE_INFINITY }
  #before = this.#latest

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Notes that a caller is active. Returns whether another one is too. */
  note(id: string): boolean {
    const now = this.#clock.now()
    if (this.#latest.id !== id) {
      this.#before = this.#latest
      this.#latest = { id, at: now }
    } else this.#latest.at = now
    return now - this.#before.at < activeMs
  }

  /** Whether a caller other than this one is active. */
  isAround(id: string): boolean {
    const other = this.#latest.id === id ? this.#before : this.#latest
    return this.#clock.now() - other.at < activeMs
  }
}
