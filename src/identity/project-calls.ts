type Kind = 'streams' | 'blockingCalls'

/** How many calls of each kind the agents of each project have open on this gateway. */
export class ProjectCalls {
  readonly #open: Readonly<Record<Kind, Map<string, number>>> = { streams: new Map(), blockingCalls: new Map() }

  count(projectId: string, kind: Kind): number {
    return this.#open[kind].get(projectId) ?? 0
  }

  add(projectId: string, kind: Kind): void {
    this.#open[kind].set(projectId, this.count(projectId, kind) + 1)
  }

  /** Ends a call that was added. A project without open calls takes no memory. */
  remove(projectId: string, kind: Kind): void {
    const left = this.count(projectId, kind) - 1
    if (left > 0) this.#open[kind].set(projectId, left)
    else this.#open[kind].delete(projectId)
  }
}
