import type { LogEvent } from '../../../log/event.ts'
import { readAudienceEvents, readProjectEvents } from '../../../log/event-store.ts'
import { requireInLog } from '../../../log/require-in-log.ts'
import type { Caller } from '../../../registry/callers/caller.ts'
import type { Reader } from '../../../storage/database.ts'
import { requireTask, taskNotFound } from '../../../tasks/read-task.ts'
import type { Task } from '../../../tasks/task.ts'

/** The events that a caller sees after a `logId`: the operator all of the project, an agent what concerns it. */
export function readEvents(db: Reader, caller: Caller, after: number, limit: number): Promise<LogEvent[]> {
  return caller.kind === 'operator'
    ? readProjectEvents(db, caller.projectId, after, limit)
    : readAudienceEvents(db, caller.projectId, caller.id, after, limit)
}

/** Refuses a `since` that is not in the log. Errors: `watermark-ahead`, `watermark-expired`. */
export async function requireKept(db: Reader, caller: Caller, since: number): Promise<void> {
  const instead = 'the logId of the last event that you saw'
  await requireInLog(db, caller.projectId, { logId: since, field: 'since', instead })
}

/** Returns a task of this log whose party the caller is: who was its assignee before sees its own events only. Errors: `task-not-found`. */
export async function requireOwnTask(db: Reader, caller: Caller, id: string): Promise<Task> {
  const { task, roles } = await requireTask(db, caller, id)
  if (task.projectId === caller.projectId && roles.some((role) => role !== 'observer')) return task
  throw taskNotFound(id, 'task')
}
