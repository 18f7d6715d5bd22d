import type { Gate } from './gate.ts'

/** A group's place in the line of the groups that take rows: entered before the first row, left when the commit is asked for. */
export class PlaceInLine {
  readonly #gate: Gate
  #state: 'outside' | 'waiting' | 'inside' = 'outside'
  #turn: Promise<void> | undefined

  constructor(gate: Gate) {
    this.#gate = gate
  }

  /** Undefined: it is the group's turn. Else resolves when it is. */
  enter(): Promise<void> | undefined {
    if (this.#state === 'outside') {
      this.#state = 'waiting'
      this.#turn = this.#gate.enter()?.then(() => this.#goIn())
      if (!this.#turn) this.#goIn()
    }
    return this.#turn
  }

  /** Resolves when all is done that follows from the log of whoever left last. */
  get before(): Promise<unknown> {
    return this.#gate.before
  }

  /** Lets the next group in. `done`: resolves when what follows from this group's part of the log is done, if it has one. */
  leave(done: Promise<unknown> | undefined): void {
    if (this.#state === 'outside') return
    this.#state = 'outside'
    this.#turn = undefined
    this.#gate.leave(done)
  }

  #goIn(): void {
    this.#state = 'inside'
    this.#turn = undefined
  }
}
