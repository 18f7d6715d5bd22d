import { monitorEventLoopDelay } from 'node:perf_hooks'
import { gatewayLimits } from '../limits.ts'

/** How often the delay is looked at, in ms: one long step is no overload. */
const lookMs = 5_000
const nsInMs = 1e6

/** Looks at the delay of the event loop: when it is so late that further requests make it worse, they are refused. */
export class Overload implements Disposable {
  readonly #delay = monitorEventLoopDelay({ resolution: 20 })
  readonly #looks: NodeJS.Timeout
  #isOver = false

  constructor() {
    this.#delay.enable()
    this.#looks = setInterval(() => this.#look(), lookMs).unref()
  }

  /** True while requests are refused. */
  isOver(): boolean {
    return this.#isOver
  }

  [Symbol.dispose](): void {
    clearInterval(this.#looks)
    this.#delay.disable()
  }

  #look(): void {
    this.#isOver = this.#delay.mean / nsInMs > gatewayLimits.loopDelay.max
    this.#delay.reset()
  }
}
