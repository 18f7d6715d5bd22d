import type { Clock } from './clock.ts'

/** Sleeps as often as needed during a long wait. It adds one listener and one timer, and removes both at the end. */
export class InterruptibleSleep {
  readonly #clock: Clock
  readonly #signal: AbortSignal
  #wake = () => {}
  #isOver: boolean

  /** The abort of the signal ends it. */
  constructor(clock: Clock, signal: AbortSignal) {
    this.#clock = clock
    this.#signal = signal
    this.#isOver = signal.aborted
    signal.addEventListener('abort', this.end)
  }

  /** Resolves after `delayMs`, or when the sleep was ended. */
  next(delayMs: number): Promise<void> {
    if (this.#isOver) return Promise.resolve()
    return new Promise((resolve) => {
      const cancel = this.#clock.after(delayMs, resolve)
      this.#wake = () => {
        cancel()
        resolve()
      }
    })
  }

  /** Ends this sleep and all later ones. A second call changes nothing. */
  readonly end = (): void => {
    this.#isOver = true
    this.#signal.removeEventListener('abort', this.end)
    this.#wake()
  }
}
