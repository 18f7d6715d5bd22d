/** Counts the iterations of the event loop until it is disposed. `work` runs in each. */
export class Iterations {
  count = 0
  #isOver = false

  constructor(work: () => void = () => {}) {
    const next = (): void => {
      work()
      this.count++
      if (!this.#isOver) setImmediate(next)
    }
    setImmediate(next)
  }

  [Symbol.dispose](): void {
    this.#isOver = true
  }
}
