import type { Reader } from '../../storage/database.ts'
import { ListStatement } from '../../storage/list.ts'
import { limited, p, sql, statement } from '../../storage/statement.ts'
import type { DeliveryOutcome } from './delivery-store.ts'

/** The outcome of a wake, of any project. `updatedAt` in ms since the epoch. */
export interface WakeOutcome {
  readonly subscriptionId: string
  readonly eventId: string
  readonly outcome: DeliveryOutcome
  readonly updatedAt: number
}

// The index of event ids is one of an expression on PostgreSQL.
const newest = statement<{ before: string; from: string; limit: number }, WakeOutcome>(
  sql`select subscription_id as "subscriptionId", event_id as "eventId", outcome, updated_at as "updatedAt" from delivery
    where event_id /*postgres || '' */ < ${p('before')} and event_id /*postgres || '' */ >= ${p('from')}
    order by event_id /*postgres || '' */ desc ${limited}`,
)
const owners = new ListStatement<object, { id: string; agentId: string; projectId: string }>(
  (ids) => sql`select id, agent_id as "agentId", project_id as "projectId" from subscription
    where id in (${ids}) and kind = 'wake'`,
)

/** Returns the outcomes of deliveries before an event id and from another one on, newest first. */
export const readOutcomes = (
  db: Reader,
  range: { readonly before: string; readonly from: string; readonly limit: number },
) => db.all(newest, range)

/** Returns the agents and projects of wake subscriptions, in no order. */
export const readOwners = (db: Reader, ids: readonly string[]) => owners.all(db, {}, ids)
