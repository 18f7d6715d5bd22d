/** How many runs begin in one iteration of the event loop: each builds, signs and sends its first request at once. */
const startsMax = 16

/** The runs of an agent that has fewer begin at once. */
const fewRuns = 4

/** Spreads the beginnings of runs over iterations of the event loop, in their order. */
export class Starts {
  #begun = 0
  readonly #waiting: (() => void)[] = []

  /**
   * Undefined: a run may begin now. Otherwise resolves when it may. The runs of an agent that has few do not wait for those of one that has many.
   * @param runs how many runs its agent has already
   */
  turn(runs: number): Promise<void> | undefined {
    if (runs < fewRuns) return undefined
    if (this.#begun === startsMax) return new Promise((resolve) => this.#waiting.push(resolve))
    if (this.#begun++ === 0) setImmediate(() => this.#next())
    return undefined
  }

  #next(): void {
    const beginning = this.#waiting.splice(0, startsMax)
    this.#begun = beginning.length
    if (beginning.length > 0) setImmediate(() => this.#next())
    for (const begin of beginning) begin()
  }
}
