/** Bodies with fewer characters than this are not counted: what is in flight bounds them. */
export const largeBody = 256 * 1024

/**
 * Bounds the text of large bodies that each agent has in memory: a receiver that does not read keeps one until its attempt ends.
 * A single body may always be sent, whatever its size. Sizes are in characters.
 */
export class BodiesAtOnce {
  readonly #max: number
  readonly #held = new Map<string, number>()

  constructor(max: number) {
    this.#max = max
  }

  hasRoom(agentId: string, size: number): boolean {
    const held = this.#held.get(agentId)
    return size < largeBody || held === undefined || held + size <= this.#max
  }

  /** Counts a body until the result is called; undefined: there is no room for it now. */
  take(agentId: string, size: number): (() => void) | undefined {
    if (!this.hasRoom(agentId, size)) return undefined
    if (size < largeBody) return () => {}
    this.#held.set(agentId, this.heldBy(agentId) + size)
    let isFree = false
    return () => {
      if (isFree) return
      isFree = true
      const left = this.heldBy(agentId) - size
      if (left > 0) this.#held.set(agentId, left)
      else this.#held.delete(agentId)
    }
  }

  /** The characters of an agent's bodies that are counted now. */
  heldBy(agentId: string): number {
    return this.#held.get(agentId) ?? 0
  }
}
