import type { Reader } from '../storage/database.ts'
import { limited, p, sql, statement } from '../storage/statement.ts'
import type { LogEvent } from './event.ts'
import { type EventRow, eventColumns, eventFromRow, itsEvent } from './event-store.ts'

interface Before {
  readonly projectId: string
  readonly audience: string
  readonly trigger: string
  /** exclusive */
  readonly before: number
  readonly limit: number
}

const newestFirst = statement<Before, EventRow>(sql`select ${eventColumns}
  from event_audience a join event e on ${itsEvent}
  where a.audience = ${p('audience')} and a.project_id = ${p('projectId')} and a.trigger = ${p('trigger')} and a.log_id < ${p('before')}
  order by a.log_id desc ${limited}`)

/** Returns the events that concern one agent and fire one trigger before a logId, newest first. */
export async function readTriggerEventsBefore(db: Reader, before: Before): Promise<LogEvent[]> {
  return (await db.all(newestFirst, before)).map(eventFromRow)
}
