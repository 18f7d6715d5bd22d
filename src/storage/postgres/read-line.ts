/** Runs so much work at a time; the rest waits in line, and what is first goes before it. */
export class ReadLine {
  readonly #atOnce: number
  /** Places that only what is first may have. */
  readonly #kept: number
  readonly #first: (() => void)[] = []
  readonly #others: (() => void)[] = []
  #running = 0

  constructor(atOnce: number, kept: number) {
    this.#atOnce = atOnce
    this.#kept = kept
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
    return isFirst ? this.#atOnce : this.#atOnce - this.#kept
  }

  /** Whoever waits takes the place. */
  #leave(): void {
    const next = this.#first.shift() ?? (this.#running <= this.#placesOf(false) ? this.#others.shift() : undefined)
    if (next) next()
    else this.#running--
  }
}
