import type { Transaction } from '../../storage/database.ts'
import { p, sql, statement } from '../../storage/statement.ts'
import { disconnectStreamsOf } from './stream-state.ts'

// The owner of a lease is `<gateway id>.<number>`; '/' is the character after '.'.
const release = statement<{ from: string; to: string; now: number }>(sql`update subscription
  set lease_owner = null, due_at = ${p('now')}
  where due_at is not null and lease_owner > ${p('from')} and lease_owner < ${p('to')}`)

/**
 * Makes every subscription that a gateway has leased due now, and ends the streams that were connected to it. Returns how many fell
 * due.
 */
export async function requeueLeasesOf(tx: Transaction, gatewayId: string): Promise<number> {
  await disconnectStreamsOf(tx, gatewayId)
  return tx.run(release, { from: `${gatewayId}.`, to: `${gatewayId}/`, now: tx.now })
}
