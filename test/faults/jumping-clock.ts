import type { Clock } from '../../src/lib/clock.ts'

/** The time of the machine, which is set now and then. Timers are not affected, like those of the system. */
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
