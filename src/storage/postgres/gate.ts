/** A group that waits at the gate. */
export interface QueuedGroup {
  /** Resolves when it may enter, or has given up. */
  readonly entered: Promise<void>
  /** Takes it out of the line. */
  giveUp(): void
}

/** Lets one group at a time lock rows, in the order of arrival. A group that has waited for `patienceMs` enters anyway. */
export class Gate {
  readonly #patienceMs: number
  readonly #waiting: (() => void)[] = []
  #inside = 0
  #hooksBefore: Promise<unknown> = Promise.resolve()

  constructor(patienceMs: number) {
    this.#patienceMs = patienceMs
  }

  /** Returns undefined if the group may enter at once; otherwise how it waits. */
  enter(): QueuedGroup | undefined {
    if (this.#inside++ === 0) return undefined
    let resolve = (): void => {}
    const entered = new Promise<void>((done) => {
      resolve = done
    })
    const go = (): void => {
      clearTimeout(timer)
      resolve()
    }
    const stepOut = (): void => {
      this.#waiting.splice(this.#waiting.indexOf(go), 1)
      go()
    }
    const timer = setTimeout(stepOut, this.#patienceMs)
    this.#waiting.push(go)
    const giveUp = (): void => {
      this.#inside--
      stepOut()
    }
    return { entered, giveUp }
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
