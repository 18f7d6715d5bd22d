/** Lets one through at a time, first come first served; nobody waits longer than `patienceMs`. */
export class Gate {
  readonly #patienceMs: number
  readonly #waiting: (() => void)[] = []
  #inside = 0

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

  leave(): void {
    this.#inside--
    this.#waiting.shift()?.()
  }
}
