import type { Clock } from '../../src/lib/clock.ts'
import { FakeClock } from './fake-clock.ts'

/** A clock that can be set. Its timers continue to count, like those of the system. */
export class SetClock implements Clock {
  readonly steady = new FakeClock()
  #offsetMs = 0
  now = (): number => this.steady.now() + this.#offsetMs
  after = (delayMs: number, work: () => void): (() => void) => this.steady.after(delayMs, work)
  set(byMs: number): void {
    this.#offsetMs += byMs
  }
}
