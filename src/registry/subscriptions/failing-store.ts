import type { Reader } from '../../storage/database.ts'
import { inOnce, limited, p, sql, statement } from '../../storage/statement.ts'
import type { WakeSubscription } from './subscription.ts'
import { type SubscriptionRow, subscriptionColumns, wakeFromRow } from './subscription-row.ts'

/** The trouble of a subscription: nothing more is sent, its newest event failed, or one is tried again. */
type Trouble = 'degraded' | 'failing' | 'retrying'

/** A subscription in trouble, and how many of its agent are in the same. */
interface FailingSubscription {
  readonly subscription: WakeSubscription
  readonly trouble: Trouble
  readonly total: number
}

type Row = SubscriptionRow & { trouble: Trouble; total: number }

const trouble = sql`case when status = 'degraded' then 'degraded' when failed_in_a_row > 0 then 'failing' else 'retrying' end`
// Few deliveries are tried again. Asked for those of one subscription, SQLite reads all of its deliveries by their key.
const retried = sql.raw('select subscription_id from delivery where next_attempt_at is not null')
const inProject = sql`from subscription where project_id = ${p('projectId')}`
// Each part has an index of its own: few of a project's subscriptions are in trouble.
const ofProject = statement<{ projectId: string; limit: number }, Row>(
  sql`select * from (select ${subscriptionColumns}, ${trouble} as trouble,
      row_number() over (partition by agent_id, ${trouble} order by updated_at, id) as place,
      count(*) over (partition by agent_id, ${trouble}) as total
    ${inProject} and kind = 'wake' and status in ('active', 'degraded') and id ${inOnce(sql`select id ${inProject} and failed_in_a_row > 0
      union all select id ${inProject} and status = 'degraded' union all ${retried}`)}) as ranked where place <= ${p('limit')}`,
)
const isRetried = sql`id in (${retried} /*postgres and delivery.subscription_id = subscription.id */)`
const failing = sql`kind = 'wake' and (status = 'degraded' or (status = 'active' and (failed_in_a_row > 0 or ${isRetried})))`
const ofAgent = statement<{ agentId: string; limit: number }, Row>(
  sql`select ${subscriptionColumns}, ${trouble} as trouble, 0 as total from subscription where agent_id = ${p('agentId')} and ${failing}
    order by updated_at, id ${limited}`,
)

/**
 * Returns the wake subscriptions of a project or an agent whose receiver is away: degraded ones, and those whose newest event failed or is tried
 * again. Of a project `limit` of each agent and trouble, the oldest first.
 */
export async function listFailing(
  db: Reader,
  of: { readonly projectId: string } | { readonly agentId: string },
  limit: number,
): Promise<FailingSubscription[]> {
  const rows = 'projectId' in of ? await db.all(ofProject, { ...of, limit }) : await db.all(ofAgent, { ...of, limit })
  return rows.map(({ trouble, total, ...row }) => ({ subscription: wakeFromRow(row), trouble, total }))
}
