import type { Gate, QueuedGroup } from './gate.ts'

/** A group's place at the gate: it enters before its first row lock, and leaves when all its locks are answered. */
export class GatePlace {
  readonly #gate: Gate
  #state: 'outside' | 'waiting' | 'inside' = 'outside'
  #waiting: QueuedGroup | undefined

  constructor(gate: Gate) {
    this.#gate = gate
  }

  /** Returns undefined if the group may lock rows now; otherwise a promise that resolves when it may. */
  enter(): Promise<void> | undefined {
    if (this.#state === 'outside') {
      const waiting = this.#gate.enter()
      this.#state = waiting ? 'waiting' : 'inside'
      this.#waiting = waiting
      void waiting?.entered.then(() => this.#entered())
    }
    return this.#waiting?.entered
  }

  /** Resolves when the commit hooks of the last group that wrote to the log have run. */
  get hooksBefore(): Promise<unknown> {
    return this.#gate.hooksBefore
  }

  /** Lets the next group enter; a group that still waits gives up its place. `hooks` resolves when the commit hooks of this group have run; undefined if it did not write to the log. */
  leave(hooks: Promise<unknown> | undefined): void {
    const [state, waiting] = [this.#state, this.#waiting]
    this.#state = 'outside'
    this.#waiting = undefined
    if (state === 'inside') this.#gate.leave(hooks)
    else waiting?.giveUp()
  }

  #entered(): void {
    if (this.#state === 'waiting') this.#state = 'inside'
    this.#waiting = undefined
  }
}
