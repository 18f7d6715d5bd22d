/**
 * Lets a few go on in each iteration of the event loop, first come, first served; the others wait for later ones. Work that comes for
 * hundreds at the same moment then leaves room for requests in between.
 */
export class LoopSlots {
  readonly #few: number
  readonly #waiting: (() => void)[] = []
  #left: number
  #isScheduled = false

  constructor(few: number) {
    this.#few = few
    this.#left = few
  }

  /** Returns undefined if the caller may go on at once, else a promise of its slot. */
  take(): Promise<void> | undefined {
    this.#schedule()
    if (this.#left > 0 && this.#waiting.length === 0) {
      this.#left--
      return undefined
    }
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      const next = this.#waiting.splice(0, this.#few)
      this.#left = this.#few - next.length
      for (const go of next) go()
      if (this.#waiting.length > 0) this.#schedule()
    })
  }
}
