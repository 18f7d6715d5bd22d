/** Lets one group at a time take rows, first come first served; nobody waits longer than `patienceMs`. */
export class Gate {
  readonly #patienceMs: number
  readonly #waiting: (() => void)[] = []
  #inside = 0
  #before: Promise<unknown> = Promise.resolve()

  constructor(patienceMs: number) {
    this.#patienceMs = patienceMs
  }

  /** Undefined: in at once. Else resolves when it is. */
  enter(): Promise<void> | undefined {
    if (this.#inside++ === 0) return undefined
    return new Promise((resolve) => {
      const go = (): void => {
        clearTimeout(timer)
        resolve()
      }
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(go), 1)
        resolve()
      }, this.#patienceMs)
      this.#waiting.push(go)
    })
  }

  /** Resolves when all is done that follows from the log of whoever left last. */
  get before(): Promise<unknown> {
    return this.#before
  }

  /** Lets the next one in. `done`: resolves when what follows from this one's part of the log is done, if it has one. */
  leave(done: Promise<unknown> | undefined): void {
    this.#inside--
    if (done) this.#before = done
    this.#waiting.shift()?.()
  }
}
