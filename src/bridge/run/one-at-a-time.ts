/** Work that is done one after the other. */
export class OneAtATime {
  #working: Promise<void> | undefined

  /** Ends with the work that is done now; undefined: there is none. Never rejects. */
  get working(): Promise<void> | undefined {
    return this.#working
  }

  /** Does work when no other is done. Errors: of the work. */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    while (this.#working) await this.#working
    const result = work()
    const ended = () => {
      this.#working = undefined
    }
    this.#working = result.then(ended, ended)
    return result
  }
}
