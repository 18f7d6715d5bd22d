import type { Reader } from '../storage/database.ts'
import { RowsStatement } from '../storage/rows.ts'
import { p, sql, statement } from '../storage/statement.ts'
import type { LogEvent } from './event.ts'
import type { EventRow } from './event-row.ts'
import { eventColumns, eventFromRow, logBounds } from './event-store.ts'

/** The event at a logId, or the next one where a restore has left none. */
const createdAt = statement<{ projectId: string; logId: number }, { createdAt: number }>(
  sql`select created_at as "createdAt" from event where project_id = ${p('projectId')} and log_id >= ${p('logId')}
    order by log_id limit 1`,
)
const newestOfTasks = new RowsStatement<EventRow>(
  'text bigint',
  (rows) => sql`select ${eventColumns} from (values ${rows}) v cross join event e
  where e.task_id = v.column1 and e.log_id = (select max(x.log_id) from event x
    where x.task_id = v.column1 and x.type = 'task.state_changed' and x.log_id <= v.column2)`,
)

/**
 * Returns the first logId of a project whose event was written at an instant or later (ms since the epoch); one after the head where
 * there is none. Looks at one event in each half of what is left: log order is the order of time, but for clocks that were set back.
 */
export async function firstLogIdSince(db: Reader, projectId: string, since: number): Promise<number> {
  const { head, prunedTo } = await logBounds(db, projectId)
  let low = prunedTo + 1
  let high = head + 1
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const event = await db.get(createdAt, { projectId, logId: middle })
    if (event && event.createdAt >= since) high = middle
    else low = middle + 1
  }
  return low
}

/** Where the log of a project begins: after the newest logId that retention has pruned (0: none), at an instant in ms since the epoch. */
export interface LogStart {
  readonly prunedTo: number
  readonly at: number
}

export async function oldestKept(db: Reader, projectId: string): Promise<LogStart> {
  const { prunedTo } = await logBounds(db, projectId)
  if (prunedTo === 0) return { prunedTo, at: Number.NEGATIVE_INFINITY }
  const event = await db.get(createdAt, { projectId, logId: prunedTo + 1 })
  return { prunedTo, at: event?.createdAt ?? Number.POSITIVE_INFINITY }
}

/** Returns the newest change of each task up to a logId, in no order. A task of another project has none here. */
export async function newestTaskEvents(
  db: Reader,
  projectId: string,
  taskIds: readonly string[],
  upTo: number,
): Promise<LogEvent[]> {
  const rows = await newestOfTasks.all(
    db,
    taskIds.map((id) => [id, upTo]),
  )
  return rows.map(eventFromRow).filter((event) => event.projectId === projectId)
}
