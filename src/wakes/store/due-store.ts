import type { Transaction } from '../../storage/database.ts'
import { RowsStatement } from '../../storage/rows.ts'
import { joined, lateFilter, p, sql, statement } from '../../storage/statement.ts'

// An idle subscription has nothing to read before this event: what lies between was not for it, and is never read again.
const setDue = new RowsStatement(
  'text bigint bigint',
  (rows) => sql`update subscription set due_at = v.column2, cursor_log_id = v.column3
  from (values ${rows}) v where id = ${joined('v.column1')} and ${lateFilter(sql`due_at is null`)}`,
)
// Not one that is leased: its run looks for replays before it ends.
const setDueNow = statement<{ id: string; now: number }>(sql`update subscription
  set due_at = case when due_at < ${p('now')} then due_at else ${p('now')} end
  where id = ${p('id')} and status = 'active' and lease_owner is null`)

/** A subscription that falls due: when (ms since the epoch), and where its cursor stands before that. */
export interface Due {
  readonly id: string
  readonly dueAt: number
  readonly skippedTo: number
}

/** Makes idle subscriptions due. One that is due already is left alone. */
export function makeDue(tx: Transaction, dues: readonly Due[]): Promise<void> {
  return setDue.run(
    tx,
    dues.map(({ id, dueAt, skippedTo }) => [id, dueAt, skippedTo]),
  )
}

/** Makes an active subscription due now, unless it is leased or due already. */
export async function makeDueNow(tx: Transaction, subscriptionId: string): Promise<void> {
  await tx.run(setDueNow, { id: subscriptionId, now: tx.now })
}
