/**
 * Counts the runs of each agent. The dispatcher leases nothing for an agent that is full: its subscriptions wait in the store,
 * and those of other agents are found at once.
 */
export class RunsOfAgents {
  readonly #max: number
  readonly #counts = new Map<string, number>()
  readonly #full = new Set<string>()

  constructor(max: number) {
    this.#max = max
  }

  /** The agents that have as many runs as they may. */
  get full(): readonly string[] {
    return this.#full.size === 0 ? none : [...this.#full]
  }

  countOf(agentId: string): number {
    return this.#counts.get(agentId) ?? 0
  }

  isFull(agentId: string): boolean {
    return this.#full.has(agentId)
  }

  add(agentId: string): void {
    const count = this.countOf(agentId) + 1
    this.#counts.set(agentId, count)
    if (count >= this.#max) this.#full.add(agentId)
  }

  /** Returns true when the agent has room again: what it has in the store can be leased. */
  remove(agentId: string): boolean {
    const count = this.countOf(agentId) - 1
    if (count === 0) this.#counts.delete(agentId)
    else this.#counts.set(agentId, count)
    return count === this.#max - 1 && this.#full.delete(agentId)
  }
}

const none: readonly string[] = []
