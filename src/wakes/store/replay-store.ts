import type { Reader, Transaction } from '../../storage/database.ts'
import { limited, p, sql, statement } from '../../storage/statement.ts'

/** One event that is to be sent again. `requestedAt` makes the new emission what it is, and the same for every retry. */
export interface Replay {
  readonly logId: number
  readonly requestedAt: number
}

const insert = statement<{ subscriptionId: string; logId: number; now: number }>(sql`insert into replay
    (subscription_id, log_id, requested_at) values (${p('subscriptionId')}, ${p('logId')}, ${p('now')})
  on conflict (subscription_id, log_id) do nothing`)
const oldest = statement<{ subscriptionId: string; limit: number }, Replay>(
  sql`select log_id as "logId", requested_at as "requestedAt" from replay
    where subscription_id = ${p('subscriptionId')} order by log_id ${limited}`,
)
const remove = statement<{ subscriptionId: string; upTo: number }>(
  sql`delete from replay where subscription_id = ${p('subscriptionId')} and log_id <= ${p('upTo')}`,
)
// Not one that is being sent for: its run looks for replays before it ends.
const makeDue = statement<{ id: string; now: number }>(sql`update subscription
  set due_at = case when due_at < ${p('now')} then due_at else ${p('now')} end
  where id = ${p('id')} and status = 'active' and lease_owner is null`)
const failedSince = statement<
  { subscriptionId: string; since: number },
  { fromLogId: number; toLogId: number }
>(sql`select from_log_id as "fromLogId", to_log_id as "toLogId" from delivery
  where subscription_id = ${p('subscriptionId')} and outcome = 'failed' and updated_at >= ${p('since')} order by event_id`)

export async function insertReplay(tx: Transaction, subscriptionId: string, logId: number): Promise<boolean> {
  return (await tx.run(insert, { subscriptionId, logId, now: tx.now })) > 0
}

export async function makeReplaysDue(tx: Transaction, subscriptionId: string): Promise<void> {
  await tx.run(makeDue, { id: subscriptionId, now: tx.now })
}

export function readReplays(db: Reader, subscriptionId: string, limit: number): Promise<Replay[]> {
  return db.all(oldest, { subscriptionId, limit })
}

/** Takes away what was sent: everything up to an event, or all. */
export async function deleteReplays(
  tx: Transaction,
  subscriptionId: string,
  upTo = Number.MAX_SAFE_INTEGER,
): Promise<void> {
  await tx.run(remove, { subscriptionId, upTo })
}

/** What was given up since an instant (ms since the epoch), as ranges of the log. */
export function readFailedRanges(
  db: Reader,
  subscriptionId: string,
  since: number,
): Promise<{ fromLogId: number; toLogId: number }[]> {
  return db.all(failedSince, { subscriptionId, since })
}
