/** The slot of one emission among those of its run. */
export interface Slot {
  /** Resolves when every earlier one has passed. */
  readonly before: Promise<void>
  /** Lets the next one pass. A second call changes nothing. */
  readonly pass: () => void
}

/** Hands out slots, in order. */
export class Sequence {
  #last: Promise<void> = Promise.resolve()

  next(): Slot {
    const before = this.#last
    let pass = (): void => {}
    const passed = new Promise<void>((resolve) => {
      pass = resolve
    })
    this.#last = before.then(() => passed)
    return { before, pass }
  }
}
