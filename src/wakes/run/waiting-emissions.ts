/**
 * Counts the emissions of one run that only wait. A run all of whose emissions wait costs nothing, and takes no place from other
 * runs.
 */
export class WaitingEmissions {
  readonly #setWaiting: (waiting: boolean) => void
  #inFlight = 0
  #waiting = 0
  #isReported = false

  constructor(setWaiting: (waiting: boolean) => void) {
    this.#setWaiting = setWaiting
  }

  /** Counts an emission as in flight. */
  begin(): void {
    this.#count(1, 0)
  }

  /** An emission is no longer in flight. */
  end(): void {
    this.#count(-1, 0)
  }

  /** Counts an emission in flight as waiting until a promise is settled. */
  async wait<Result>(until: Promise<Result>): Promise<Result> {
    this.#count(0, 1)
    try {
      return await until
    } finally {
      this.#count(0, -1)
    }
  }

  #count(inFlight: number, waiting: number): void {
    this.#inFlight += inFlight
    this.#waiting += waiting
    const isWaiting = this.#inFlight > 0 && this.#waiting === this.#inFlight
    if (isWaiting === this.#isReported) return
    this.#isReported = isWaiting
    this.#setWaiting(isWaiting)
  }
}
