import { logBounds } from '../../log/event-store.ts'
import { leftOf } from '../../log/restored.ts'
import type { Reader } from '../../storage/database.ts'
import { p, sql, statement } from '../../storage/statement.ts'
import { logIdOfCursor } from '../../words/mcp-events.ts'

/** Where a client wants to begin. */
export interface RequestedStart {
  /** null: from now on. */
  readonly cursor: string | null
  /** Nothing older than this, in ms. It counts only with a cursor. */
  readonly maxAgeMs?: number | undefined
}

/** Where it begins: after `logId`. `isCut`: events between its cursor and there are left out. */
interface Position {
  readonly logId: number
  readonly isCut: boolean
}

/** The event at a logId, or the last one before where a restore has left none. */
const createdAt = statement<{ projectId: string; logId: number }, { createdAt: number }>(
  sql`select created_at as "createdAt" from event where project_id = ${p('projectId')} and log_id <= ${p('logId')}
    order by log_id desc limit 1`,
)

/**
 * Returns where a client begins to read the log of a project. A cursor that is not ours, or whose events are no longer kept, begins with
 * the oldest event there is, and reports so: never an error, and never a gap in silence. Source: SEP-3415, cursors.
 */
export async function startPosition(
  db: Reader,
  projectId: string,
  wanted: RequestedStart,
  now: number,
): Promise<Position> {
  const { head, prunedTo } = await logBounds(db, projectId)
  const { cursor, maxAgeMs } = wanted
  if (cursor === null) return { logId: head, isCut: false }
  const said = logIdOfCursor(cursor, projectId)
  const left = said === undefined || said > head ? prunedTo : await leftOf(db, projectId, said)
  const from = Math.max(left ?? said!, prunedTo)
  const youngest = maxAgeMs === undefined ? 0 : await lastBefore(db, projectId, now - maxAgeMs, { after: from, head })
  const logId = Math.max(from, youngest)
  return { logId, isCut: said === undefined || logId !== said }
}

/** Returns the last logId of before an instant (ms since the epoch), by halves: the log is in the order of time, but for clocks that differ. */
async function lastBefore(
  db: Reader,
  projectId: string,
  instant: number,
  { after, head }: { readonly after: number; readonly head: number },
): Promise<number> {
  let low = after
  let high = head
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    const event = await db.get(createdAt, { projectId, logId: middle })
    if (event === undefined || event.createdAt < instant) low = middle
    else high = middle - 1
  }
  return low
}
