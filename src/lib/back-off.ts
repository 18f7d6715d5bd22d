import { type Clock, sleep, systemClock } from './clock.ts'

/** The waits between tries, in ms: each is twice as long as the one before, up to `max`. */
export class BackOff {
  readonly #bounds: { readonly first: number; readonly max: number }
  #nextMs: number

  constructor(bounds: { readonly first: number; readonly max: number }) {
    this.#bounds = bounds
    this.#nextMs = bounds.first
  }

  /** Returns the next wait. */
  next(): number {
    const waitMs = this.#nextMs
    this.#nextMs = Math.min(waitMs * 2, this.#bounds.max)
    return waitMs
  }

  /** Sleeps for the next wait and up to a fifth of it, so that programs that failed together do not try again together. */
  pause(signal?: AbortSignal, clock: Clock = systemClock): Promise<void> {
    return sleep(clock, this.next() * (1 + 0.2 * Math.random()), signal)
  }

  /** Begins again with the first wait. */
  reset(): void {
    this.#nextMs = this.#bounds.first
  }
}
