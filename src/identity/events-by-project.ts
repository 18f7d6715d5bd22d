import type { NewEvent } from '../log/event.ts'
import type { RegistryContext } from '../registry/agents/agents.ts'
import type { Transaction } from '../storage/database.ts'

/** Events to append, by project. Several logs are always locked in the same order. */
export class EventsByProject {
  readonly #events = new Map<string, NewEvent[]>()

  add(projectId: string, event: NewEvent): void {
    const events = this.#events.get(projectId) ?? []
    events.push(event)
    this.#events.set(projectId, events)
  }

  async append({ append }: Pick<RegistryContext, 'append'>, tx: Transaction): Promise<void> {
    for (const projectId of [...this.#events.keys()].sort()) {
      await append(tx, projectId, this.#events.get(projectId)!)
    }
  }
}
