/** Counts the running writers of a group, so that the log is locked only after every other writer has ended or waits. */
export class RunningWriters {
  #count = 0
  readonly #waiting: (() => void)[] = []

  start(): void {
    this.#count++
  }

  /** A writer has ended, or waits for another writer. */
  stop(): void {
    if (--this.#count > 0) return
    for (const resume of this.#waiting.splice(0)) {
      this.#count++
      resume()
    }
  }

  /** Returns undefined if the caller is the only running writer; otherwise resolves when every other writer has ended or waits. */
  othersStopped(): Promise<void> | undefined {
    if (this.#count === 1) return undefined
    this.#count--
    return new Promise((resolve) => this.#waiting.push(resolve))
  }
}
