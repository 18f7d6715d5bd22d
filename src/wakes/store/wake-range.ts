import type { Reader } from '../../storage/database.ts'
import { joined, lateFilter, p, sql, statement } from '../../storage/statement.ts'
import type { Trigger } from '../../words/events.ts'

/** The events that a wake of an agent covers, inclusive. */
export interface WakeRange {
  readonly subscriptionId: string
  readonly trigger: Trigger
  readonly fromLogId: number
  readonly toLogId: number
}

const ofAgent = statement<{ agentId: string; eventId: string }, WakeRange>(
  sql`select d.subscription_id as "subscriptionId", s.trigger, d.from_log_id as "fromLogId", d.to_log_id as "toLogId"
    from delivery d join subscription s on s.id = ${joined('d.subscription_id')}
    where d.event_id /*postgres || '' */ = ${p('eventId')} and ${lateFilter(sql`s.agent_id = ${p('agentId')}`)} and ${lateFilter(sql`s.kind = 'wake'`)}`,
)

/** Returns the events that a wake covers; undefined: the agent has none of this id on record. */
export function findWakeRange(db: Reader, agentId: string, eventId: string): Promise<WakeRange | undefined> {
  return db.get(ofAgent, { agentId, eventId })
}
