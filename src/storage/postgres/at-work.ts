/** Counts the writers of a group that are at work, so that what is to be locked last is locked when they have what they need. */
export class AtWork {
  #count = 0
  readonly #waiting: (() => void)[] = []

  start(): void {
    this.#count++
  }

  /** Of a writer that is done, or that waits for another one. */
  stop(): void {
    if (--this.#count > 0) return
    for (const goOn of this.#waiting.splice(0)) {
      this.#count++
      goOn()
    }
  }

  /** For a writer at work. Undefined: nobody else is. Else resolves when nobody else is but those that wait in the same way. */
  othersStopped(): Promise<void> | undefined {
    if (this.#count === 1) return undefined
    this.#count--
    return new Promise((resolve) => this.#waiting.push(resolve))
  }
}
