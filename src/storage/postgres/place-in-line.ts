import type { Gate } from './gate.ts'

/** A group's place at the gate: it enters before its first row lock, and leaves when it sends its commit. */
export class PlaceInLine {
  readonly #gate: Gate
  #state: 'outside' | 'waiting' | 'inside' = 'outside'
  #entering: Promise<void> | undefined

  constructor(gate: Gate) {
    this.#gate = gate
  }

  /** Returns undefined if the group may lock rows now; otherwise a promise that resolves when it may. */
  enter(): Promise<void> | undefined {
    if (this.#state === 'outside') {
      this.#state = 'waiting'
      this.#entering = this.#gate.enter()?.then(() => this.#entered())
      if (!this.#entering) this.#entered()
    }
    return this.#entering
  }

  /** Resolves when the commit hooks of the last group that wrote to the log have run. */
  get hooksBefore(): Promise<unknown> {
    return this.#gate.hooksBefore
  }

  /** Lets the next group enter. `hooks` resolves when the commit hooks of this group have run; undefined if it did not write to the log. */
  leave(hooks: Promise<unknown> | undefined): void {
    if (this.#state === 'outside') return
    this.#state = 'outside'
    this.#entering = undefined
    this.#gate.leave(hooks)
  }

  #entered(): void {
    this.#state = 'inside'
    this.#entering = undefined
  }
}
