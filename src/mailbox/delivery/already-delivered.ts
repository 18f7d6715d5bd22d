import { Batcher } from '../../lib/batcher.ts'
import type { Reader } from '../../storage/database.ts'
import { RowsStatement } from '../../storage/rows.ts'
import { joined, lateFilter, sql } from '../../storage/statement.ts'
import type { FindDelivered } from '../../wakes/read/pending.ts'
import type { DeliveryMethod } from '../messages/message.ts'

// A cross join makes SQLite start from the pairs and look each one up in the table.
const deliveredOtherwise = new RowsStatement<{ agentId: string; messageId: string; method: DeliveryMethod }>(
  (value) => sql`${value(0)}, ${value(1)}`,
  2,
  (rows) => sql`select r.agent_id as "agentId", r.message_id as "messageId", r.delivery_method as "method"
  from (values ${rows}) v cross join message_recipient r
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

type Delivered = ReadonlyMap<string, DeliveryMethod>

const nothing: Delivered = new Map()

function byAgent(
  rows: readonly { agentId: string; messageId: string; method: DeliveryMethod }[],
): ReadonlyMap<string, Delivered> {
  const found = new Map<string, Map<string, DeliveryMethod>>()
  for (const { agentId, messageId, method } of rows) {
    const known = found.get(agentId)
    if (known) known.set(messageId, method)
    else found.set(agentId, new Map([[messageId, method]]))
  }
  return found
}
