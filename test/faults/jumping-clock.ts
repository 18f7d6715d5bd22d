import type { Clock } from '../../src/lib/clock.ts'

/** The machine's time, set by somebody now and then. Timers run on, as the system's do: they count, they read no clock. */
export class JumpingClock implements Clock {
  #offsetMs = 0

  now(): number {
    return Date.now() + this.#offsetMs
  }

  after(delayMs: number, work: () => void): () => void {
    const timer = setTimeout(work, delayMs)
    return () => clearTimeout(timer)
  }

  jump(ms: number): void {
    this.#offsetMs += ms
  }
}
