import type { LogNotifier } from './log-notifier.ts'

/** Signals that a log has grown. A wait that begins later still gets the signal. */
export class GrowthSignal {
  readonly #stop: () => void
  #grown = false
  #isClosed = false
  #wake = (): void => {}

  /** @param key a project's id, a task's id, or an agent's id with its project as `within` */
  constructor(notifier: LogNotifier, key: string, within?: string) {
    const notice = (): void => {
      this.#grown = true
      this.#wake()
    }
    this.#stop = notifier.listen(key, notice, within)
  }

  /** Resolves once the log has grown since the last call, or at once when the signal is closed. */
  async next(): Promise<void> {
    if (!this.#grown && !this.#isClosed) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    this.#grown = false
  }

  readonly close = (): void => {
    this.#isClosed = true
    this.#stop()
    this.#wake()
  }
}
