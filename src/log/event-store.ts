import { Problem } from '../errors.ts'
import type { Reader, Transaction } from '../storage/database.ts'
import { RowsStatement, rowsInsert } from '../storage/rows.ts'
import { forUpdate, limited, p, type Statement, sql, statement, takingLog } from '../storage/statement.ts'
import { eventTypes, triggers } from '../words/events.ts'
import type { LogEvent, NewEvent } from './event.ts'
import { type EventRow, events } from './event-row.ts'
import { dataToStored, readStored } from './stored-data.ts'

const takeLogIds = statement<{ projectId: string; count: number }, { head: number }>(
  sql`update project set log_head = log_head + ${p('count')} where id = ${p('projectId')} returning log_head as "head"`,
)
const eventRows = events.insertRows()
const audienceRows = rowsInsert('event_audience', 'audience, project_id, trigger, log_id')
/** The trigger of an audience row whose event fires none. */
const noTrigger = ''

/**
 * Locks the log until the commit and assigns logIds to these events. The ids come from the project's own counter row, which stays
 * locked until the commit: ids are gap-free and in commit order on every engine. Writes no event yet.
 */
export async function numberEvents(
  tx: Transaction,
  projectId: string,
  events: readonly NewEvent[],
): Promise<LogEvent[]> {
  const row = await tx.get(takeLogIds, { projectId, count: events.length })
  if (!row) throw new Problem('project-not-found', { detail: `No project "${projectId}".` })
  const first = row.head - events.length + 1
  return events.map(({ type, taskId = null, actor, actorId = null, data }, index) => {
    const trigger = eventTypes[type]
    return { projectId, logId: first + index, type, trigger, taskId, actor, actorId, data, createdAt: tx.now }
  })
}

/** Writes numbered events, in the transaction that numbered them. */
export async function writeEvents(
  tx: Transaction,
  numbered: readonly LogEvent[],
  appended: readonly NewEvent[],
): Promise<void> {
  const rows = numbered.map((event) => events.valuesOf({ ...event, data: dataToStored(event, event.data) }))
  const audiences = numbered.flatMap(({ projectId, logId, trigger }, index) =>
    appended[index]!.audience.map((audience) => [audience, projectId, trigger ?? noTrigger, logId]),
  )
  await Promise.all([eventRows.run(tx, rows), audienceRows.run(tx, audiences)])
}

export const eventColumns = events.select('e')

interface Range {
  /** exclusive */
  after: number
  /** inclusive */
  upTo: number
  limit: number
}

const rangeOfProject = statement<Range & { projectId: string }, EventRow>(sql`select ${eventColumns} from event e
  where e.project_id = ${p('projectId')} and e.log_id > ${p('after')} and e.log_id <= ${p('upTo')}
  order by e.log_id ${limited}`)
// Joins by project and logId, never by the project alone: with the same constant on both sides, PostgreSQL may read the whole log
// for each row, because it made the plan while the log was short.
export const itsEvent = sql.raw(`e.project_id = a.project_id /*postgres || '' */ and e.log_id = a.log_id`)
/** The key has the trigger before the logId: a page of all triggers merges the first rows of each. */
const firstOf = (trigger: string) => sql`select project_id, log_id from (select project_id, log_id from event_audience
    where audience = ${p('audience')} and project_id = ${p('projectId')} and trigger = ${sql.raw(`'${trigger}'`)}
      and log_id > ${p('after')} and log_id <= ${p('upTo')}
    order by log_id ${limited}) as first`
const rangeOfAudience = statement<Range & { projectId: string; audience: string }, EventRow>(sql`select ${eventColumns}
  from (${sql.join([noTrigger, ...triggers].map(firstOf), sql` union all `)}) a join event e on ${itsEvent}
  order by a.log_id ${limited}`)
const rangeOfTrigger = statement<
  Range & { projectId: string; audience: string; trigger: string },
  EventRow
>(sql`select ${eventColumns}
  from event_audience a join event e on ${itsEvent}
  where a.audience = ${p('audience')} and a.project_id = ${p('projectId')} and a.trigger = ${p('trigger')} and a.log_id > ${p('after')} and a.log_id <= ${p('upTo')}
  order by a.log_id ${limited}`)
const rangeOfTask = statement<Range & { taskId: string }, EventRow>(sql`select ${eventColumns} from event e
  where e.task_id = ${p('taskId')} and e.log_id > ${p('after')} and e.log_id <= ${p('upTo')}
  order by e.log_id ${limited}`)

const unbounded = Number.MAX_SAFE_INTEGER

/** Returns the events of a project after a watermark, in order. */
export function readProjectEvents(db: Reader, projectId: string, after: number, limit: number): Promise<LogEvent[]> {
  return read(db, rangeOfProject, { projectId, after, upTo: unbounded, limit })
}

/** Returns the events that concern one agent after a watermark, in order. */
export function readAudienceEvents(
  db: Reader,
  projectId: string,
  audience: string,
  after: number,
  limit: number,
): Promise<LogEvent[]> {
  return read(db, rangeOfAudience, { projectId, audience, after, upTo: unbounded, limit })
}

/** Returns the events that concern one agent and fire one trigger, in `(after, upTo]`, in order. */
export function readTriggerEvents(
  db: Reader,
  projectId: string,
  audience: string,
  trigger: string,
  range: Range,
): Promise<LogEvent[]> {
  return read(db, rangeOfTrigger, { projectId, audience, trigger, ...range })
}

/** Returns the events of one task in `(after, upTo]`, in order. */
export function readTaskEvents(
  db: Reader,
  taskId: string,
  after: number,
  limit: number,
  upTo = unbounded,
): Promise<LogEvent[]> {
  return read(db, rangeOfTask, { taskId, after, upTo, limit })
}

const windows = new RowsStatement<EventRow & { window: number }>(
  'bigint text text text bigint bigint',
  (rows) => sql`select v.column1 as "window", ${eventColumns}
  from (values ${rows}) v cross join event_audience a cross join event e
  where a.audience = v.column2 and a.project_id = v.column3 and a.log_id > v.column5 and a.log_id <= v.column6 and a.trigger = v.column4
    and ${itsEvent}
  order by a.log_id`,
)

/** A short range of a log: the events of one trigger that concern one agent, in `(after, upTo]`. */
interface Window {
  readonly projectId: string
  readonly audience: string
  readonly trigger: string
  readonly after: number
  readonly upTo: number
}

/** Returns the events of many windows: one list for each window, at its index. */
export async function readWindows(db: Reader, windowsToRead: readonly Window[]): Promise<LogEvent[][]> {
  const rows = windowsToRead.map(({ audience, projectId, trigger, after, upTo }, index) => {
    return [index, audience, projectId, trigger, after, upTo]
  })
  const found: LogEvent[][] = windowsToRead.map(() => [])
  for (const { window: index, ...row } of await windows.all(db, rows)) found[index]!.push(eventFromRow(row))
  return found
}

async function read<Params extends object>(
  db: Reader,
  range: Statement<Params, EventRow>,
  params: Params,
): Promise<LogEvent[]> {
  return (await db.all(range, params)).map(eventFromRow)
}

export function eventFromRow(row: EventRow): LogEvent {
  return { trigger: eventTypes[row.type] ?? null, ...row, data: readStored(row, row.data) }
}

const bounds = statement<{ projectId: string }, { head: number; prunedTo: number }>(
  sql`select log_head as "head", log_tail as "prunedTo" from project where id = ${p('projectId')}`,
)

/** Returns the newest logId of a project, and the newest one that retention has pruned (0: none). */
export async function logBounds(db: Reader, projectId: string): Promise<{ head: number; prunedTo: number }> {
  const row = await db.get(bounds, { projectId })
  if (!row) throw new Problem('project-not-found', { detail: `No project "${projectId}".` })
  return row
}

const lockedHead = takingLog(
  statement<{ projectId: string }, { head: number }>(
    sql`select log_head as "head" from project where id = ${p('projectId')} ${forUpdate}`,
  ),
)

/**
 * Locks a project's log until the transaction ends, after waiting for writers that hold it. What the transaction then reads of the
 * log is complete, and later writers see what it has changed. Returns the newest logId.
 */
export async function lockLog(tx: Transaction, projectId: string): Promise<number> {
  return (await tx.get(lockedHead, { projectId }))?.head ?? 0
}
