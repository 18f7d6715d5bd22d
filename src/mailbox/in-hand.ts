import { Batcher } from '../lib/batcher.ts'
import type { Reader } from '../storage/database.ts'
import { RowsStatement } from '../storage/rows.ts'
import { lateFilter, sql } from '../storage/statement.ts'
import type { FindDelivered } from '../wakes/read/pending.ts'

// A cross join, so that the embedded store looks from the pairs at the table and never the other way round.
const taken = new RowsStatement<{ agentId: string; messageId: string }>(
  (value) => sql`${value(0)}, ${value(1)}`,
  2,
  (rows) => sql`select r.agent_id as "agentId", r.message_id as "messageId"
  from (values ${rows}) v cross join message_recipient r
  where r.agent_id = v.column1 and r.message_id = v.column2
    and ${lateFilter(sql`r.pending = 0 and r.delivery_method <> 'push'`)}`,
)

/** Looks into the store once for all that is asked in one turn: many runs ask at the same time. */
export function createFindDelivered(db: Reader): FindDelivered {
  const taking = new Batcher<readonly [string, string], ReadonlyMap<string, ReadonlySet<string>>>(async (pairs) =>
    byAgent(await taken.all(db, pairs)),
  )
  return async (agentId, messageIds) => {
    const found = await taking.load(messageIds.map((messageId) => [agentId, messageId]))
    return found.get(agentId) ?? nothing
  }
}

const nothing: ReadonlySet<string> = new Set()

function byAgent(rows: readonly { agentId: string; messageId: string }[]): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>()
  for (const { agentId, messageId } of rows) {
    const known = found.get(agentId)
    if (known) known.add(messageId)
    else found.set(agentId, new Set([messageId]))
  }
  return found
}
