/** Lets one through at a time, first come first served; nobody waits longer than `patienceMs`. */
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

  /** Resolves when all is done that follows from whoever left last. */
  get before(): Promise<unknown> {
    return this.#before
  }

  /** Lets the next one in, while what follows from this one may still be under way. */
  leave(done: Promise<unknown>): void {
    this.#inside--
    this.#before = done
    this.#waiting.shift()?.()
  }
}
