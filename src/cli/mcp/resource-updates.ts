import type { EventView } from '../../client/route-types.ts'
import { resourcesOf } from '../../fronts/mcp/resources/resources-of.ts'

/** The subscribed resources that an event has changed. A `silent` event causes no notification. Pure. Source: S1-15. */
export function changedResources(subscribed: ReadonlySet<string>, event: EventView, identity: string): string[] {
  if (event.data.wakePolicy === 'silent') return []
  // On the wire an event names its actor, not the actor's id.
  const about = { ...event, taskId: event.taskId ?? null, actorId: event.actor }
  return resourcesOf(about, { id: identity, identity }).filter((uri) => subscribed.has(uri))
}
