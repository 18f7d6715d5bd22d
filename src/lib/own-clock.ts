import type { Clock } from './clock.ts'
import { justStarted, watch } from './watchfulness.ts'

const everyMs = 10_000
const lateMs = 10_000
const graceMs = 60_000

/**
 * Watches the gateway's own clocks. While no gateway ran, and while its machine slept or its process was stopped, nobody could give it a
 * sign of life: silence counts again a minute after a start and after a gap.
 */
export class OwnClock implements Disposable {
  readonly #clock: Clock
  readonly #steady: () => number
  #seen = justStarted
  #cancel = () => {}

  /** @param steady a clock that does not run while the machine sleeps, in ms */
  constructor(clock: Clock, steady: () => number) {
    this.#clock = clock
    this.#steady = steady
    this.#look()
  }

  /** The instant up to which the silence of others counts: `now`, or within the minute of grace the beginning of time. */
  readonly silenceUntil = (now: number): number => (this.#next().calm * everyMs > graceMs ? now : 0);

  [Symbol.dispose](): void {
    this.#cancel()
  }

  #look(): void {
    this.#seen = this.#next()
    this.#cancel = this.#clock.after(everyMs, () => this.#look())
  }

  #next() {
    return watch(this.#seen, { wall: this.#clock.now(), steady: this.#steady() }, everyMs, lateMs)
  }
}

/** A judge of the silence of others. */
export interface SilenceJudge {
  readonly silenceUntil: OwnClock['silenceUntil']
}
