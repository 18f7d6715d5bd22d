import type { LogNotifier } from './log-notifier.ts'

/** Signals that a project's log has grown. A wait that begins later still gets the signal. */
export class GrowthSignal {
  readonly #stop: () => void
  #grown = false
  #wake = (): void => {}

  constructor(notifier: LogNotifier, projectId: string) {
    this.#stop = notifier.listen(projectId, () => {
      this.#grown = true
      this.#wake()
    })
  }

  /** Resolves once the log has grown since the last call. */
  async next(): Promise<void> {
    if (!this.#grown) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    this.#grown = false
  }

  close(): void {
    this.#stop()
    this.#wake()
  }
}
