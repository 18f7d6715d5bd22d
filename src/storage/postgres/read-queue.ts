/** Runs a limited number of reads at a time. The others wait; reads that go first are run before them. */
export class ReadQueue {
  readonly #atOnce: number
  /** Places that are reserved for reads that go first. */
  readonly #reserved: number
  readonly #first: (() => void)[] = []
  readonly #others: (() => void)[] = []
  #running = 0

  constructor(atOnce: number, reserved: number) {
    this.#atOnce = atOnce
    this.#reserved = reserved
  }

  async run<T>(isFirst: boolean, work: () => Promise<T>): Promise<T> {
    if (this.#running < this.#placesOf(isFirst)) this.#running++
    else await new Promise<void>((go) => (isFirst ? this.#first : this.#others).push(go))
    try {
      return await work()
    } finally {
      this.#leave()
    }
  }

  #placesOf(isFirst: boolean): number {
    return isFirst ? this.#atOnce : this.#atOnce - this.#reserved
  }

  /** A waiting read takes over the place. */
  #leave(): void {
    const next = this.#first.shift() ?? (this.#running <= this.#placesOf(false) ? this.#others.shift() : undefined)
    if (next) next()
    else this.#running--
  }
}
