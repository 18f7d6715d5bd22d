import type { Reader } from '../../storage/database.ts'
import { limited, p, sql, statement } from '../../storage/statement.ts'
import type { WakeSubscription } from './subscription.ts'
import { type SubscriptionRow, subscriptionColumns, wakeFromRow } from './subscription-row.ts'

const failing = sql`kind = 'wake' and (status = 'degraded' or (status = 'active' and failed_in_a_row > 0) or exists (select 1 from delivery
    where delivery.subscription_id = subscription.id and next_attempt_at is not null)) order by updated_at ${limited}`
const ofProject = statement<{ projectId: string; limit: number }, SubscriptionRow>(
  sql`select ${subscriptionColumns} from subscription where project_id = ${p('projectId')} and ${failing}`,
)
const ofAgent = statement<{ agentId: string; limit: number }, SubscriptionRow>(
  sql`select ${subscriptionColumns} from subscription where agent_id = ${p('agentId')} and ${failing}`,
)

/** Returns the wake subscriptions of a project or an agent whose receiver is away: degraded ones, and those whose newest event failed or is tried again. */
export async function listFailing(
  db: Reader,
  of: { readonly projectId: string } | { readonly agentId: string },
  limit: number,
): Promise<WakeSubscription[]> {
  const rows = 'projectId' in of ? await db.all(ofProject, { ...of, limit }) : await db.all(ofAgent, { ...of, limit })
  return rows.map(wakeFromRow)
}
