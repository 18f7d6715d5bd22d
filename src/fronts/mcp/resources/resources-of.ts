import type { LogEvent } from '../../../log/event.ts'
import { type ResourceKind, uriOf } from './uris.ts'

/** The part of a caller that its resources depend on. */
interface Owner {
  readonly id: string
  /** `@donna` */
  readonly identity: string
}

/**
 * The URIs of the resources that an event changes, for a caller that may see the event: an operator sees each message of its project,
 * and is notified that its inbox may have changed. Pure.
 */
export function resourcesOf(
  event: Pick<LogEvent, 'type' | 'taskId' | 'actorId' | 'data'>,
  { id, identity }: Owner,
): string[] {
  const { type, actorId, data } = event
  const thread = named('thread', data.threadId)
  const task = named('task', event.taskId ?? data.taskId)
  if (type === 'message.sent') return [uriOf('inbox', identity), ...thread, ...task]
  if (type.startsWith('message.')) return [...(actorId === id ? [uriOf('inbox', identity)] : []), ...thread]
  if (type.startsWith('task.')) return task
  return type.startsWith('agent.') ? named('agent', data.agent) : []
}

function named(kind: ResourceKind, name: unknown): string[] {
  return typeof name === 'string' ? [uriOf(kind, name)] : []
}
