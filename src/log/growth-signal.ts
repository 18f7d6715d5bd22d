import type { LogNotifier } from './log-notifier.ts'

/** Notices that a project's log has grown, also between two looks. */
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

  /** Resolves once the log has grown since this was last asked. */
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
