/**
 * How many runs each agent has. One with too many is left out of leases until it has fewer again: its subscriptions wait in the
 * store, and those of others are found at once.
 */
export class RunsOfAgents {
  readonly #max: number
  readonly #counts = new Map<string, number>()
  readonly #full = new Set<string>()

  constructor(max: number) {
    this.#max = max
  }

  /** The agents that have too many. */
  get full(): readonly string[] {
    return this.#full.size === 0 ? nobody : [...this.#full]
  }

  isFull(agentId: string): boolean {
    return this.#full.has(agentId)
  }

  add(agentId: string): void {
    const count = (this.#counts.get(agentId) ?? 0) + 1
    this.#counts.set(agentId, count)
    if (count >= this.#max) this.#full.add(agentId)
  }

  /** True: the agent has room again, and what it has in the store can be leased. */
  remove(agentId: string): boolean {
    const count = this.#counts.get(agentId)! - 1
    if (count === 0) this.#counts.delete(agentId)
    else this.#counts.set(agentId, count)
    return count === this.#max - 1 && this.#full.delete(agentId)
  }
}

const nobody: readonly string[] = []
