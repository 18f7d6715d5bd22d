import { Batcher } from '../../lib/batcher.ts'
import type { Reader } from '../../storage/database.ts'
import { RowsStatement } from '../../storage/rows.ts'
import { joined, lateFilter, sql } from '../../storage/statement.ts'
import type { FindDelivered } from '../../wakes/read/pending.ts'
import type { HandedOver } from '../../wakes/rules/handed-over.ts'

interface Row {
  readonly agentId: string
  readonly messageId: string
  readonly at: number
  readonly isUnread: number
  readonly lostAt: number | null
}

// A cross join makes SQLite start from the pairs and look each one up in the table.
const deliveredOtherwise = new RowsStatement<Row>(
  'text text',
  (rows) => sql`select r.agent_id as "agentId", r.message_id as "messageId", r.delivered_at as "at",
    case when r.status = 'sent' then 1 else 0 end as "isUnread",
    case when r.status = 'sent' and s.id is null then r.delivered_at when r.status = 'sent' then s.ended_at end as "lostAt"
  from (values ${rows}) v cross join message_recipient r left join session s on s.id = r.session_id
  where r.agent_id = ${joined('v.column1')} and r.message_id = ${joined('v.column2')}
    and ${lateFilter(sql`r.pending = 0 and r.delivery_method <> 'push'`)}`,
)

/**
 * Makes the look-up of mail that reached its recipient by another route than a wake. All look-ups of one iteration of the event loop
 * are one query, because many runs look at the same time.
 */
export function createFindDelivered(db: Reader): FindDelivered {
  const batcher = new Batcher<readonly [string, string], ReadonlyMap<string, Delivered>>(async (pairs) =>
    byAgent(await deliveredOtherwise.all(db, pairs)),
  )
  return async (agentId, messageIds) => {
    const found = await batcher.load(messageIds.map((messageId) => [agentId, messageId]))
    return found.get(agentId) ?? nothing
  }
}

type Delivered = ReadonlyMap<string, HandedOver>

const nothing: Delivered = new Map()

function byAgent(rows: readonly Row[]): ReadonlyMap<string, Delivered> {
  const found = new Map<string, Map<string, HandedOver>>()
  for (const { agentId, messageId, at, isUnread, lostAt } of rows) {
    const known = found.get(agentId) ?? new Map<string, HandedOver>()
    found.set(agentId, known.set(messageId, { at, isUnread: isUnread === 1, lostAt }))
  }
  return found
}
