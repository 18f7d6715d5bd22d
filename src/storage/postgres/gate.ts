/** Lets one group at a time lock rows, in the order of arrival. A group that has waited for `patienceMs` enters anyway. */
export class Gate {
  readonly #patienceMs: number
  readonly #waiting: (() => void)[] = []
  #inside = 0
  #hooksBefore: Promise<unknown> = Promise.resolve()

  constructor(patienceMs: number) {
    this.#patienceMs = patienceMs
  }

  /** Returns undefined if the group may enter at once; otherwise a promise that resolves when it may. */
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

  /** Resolves when the commit hooks of the last group that wrote to the log have run. */
  get hooksBefore(): Promise<unknown> {
    return this.#hooksBefore
  }

  /** Lets the next group enter. `hooks` resolves when the commit hooks of this group have run; undefined if it did not write to the log. */
  leave(hooks: Promise<unknown> | undefined): void {
    this.#inside--
    if (hooks) this.#hooksBefore = hooks
    this.#waiting.shift()?.()
  }
}
