import type { Clock } from '../../lib/clock.ts'

/** Knows whether several callers are active: one that is alone is not held back. */
export class Company {
  readonly #clock: Clock
  readonly #activeMs: number
  /** The last two callers that are not the same. */
  #latest = { id: '', at: Number.NEGATIVE_INFINITY }
  #before = this.#latest

  /** @param activeMs how long a caller is active after its last request */
  constructor(clock: Clock, activeMs = 1_000) {
    this.#clock = clock
    this.#activeMs = activeMs
  }

  /** Notes that a caller is active. Returns whether another one is too. */
  note(id: string): boolean {
    const now = this.#clock.now()
    if (this.#latest.id !== id) {
      this.#before = this.#latest
      this.#latest = { id, at: now }
    } else this.#latest.at = now
    return now - this.#before.at < this.#activeMs
  }

  /** Whether a caller other than this one is active. */
  isAround(id: string): boolean {
    const other = this.#latest.id === id ? this.#before : this.#latest
    return this.#clock.now() - other.at < this.#activeMs
  }
}
