import type { JsonObject } from '../../../lib/json.ts'
import type { LogEvent } from '../../../log/event.ts'
import type { EventType } from '../../../words/events.ts'
import { instant } from '../instant.ts'

/** An event of the log. `createdAt` is ISO 8601. */
export interface EventView {
  readonly logId: number
  readonly type: EventType
  /** `@donna`, `@operator`, `@gateway` */
  readonly actor: string
  readonly taskId?: string
  readonly data: JsonObject
  readonly createdAt: string
}

export interface EventPageView {
  readonly events: readonly EventView[]
  /** The last event of the log. */
  readonly lastLogId: number
  /** The `since` of the next page. */
  readonly nextSince: number
  readonly more: boolean
}

export function eventView(event: LogEvent): EventView {
  const { routing: _forTheEngine, ...data } = event.data
  return {
    logId: event.logId,
    type: event.type,
    actor: event.actor,
    ...taskIdOf(event),
    data,
    createdAt: instant(event.createdAt),
  }
}

/** The event of a task in the log of another party's project has the id in its data only. Source: D19. */
function taskIdOf({ taskId, type, data }: LogEvent): { taskId?: string } {
  if (taskId !== null) return { taskId }
  return type.startsWith('task.') && typeof data.taskId === 'string' ? { taskId: data.taskId } : {}
}
