import type { Reader, Transaction } from '../../storage/database.ts'
import { limited, p, sql, statement } from '../../storage/statement.ts'

/** One event to send again. `requestedAt` makes its emission a new one, and the same one for every retry. */
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
const failedSince = statement<
  { subscriptionId: string; since: number },
  { fromLogId: number; toLogId: number }
>(sql`select from_log_id as "fromLogId", to_log_id as "toLogId" from delivery
  where subscription_id = ${p('subscriptionId')} and outcome = 'failed' and updated_at >= ${p('since')} order by event_id`)

/** Notes an event to be sent again. False: it was noted before. */
export async function insertReplay(tx: Transaction, subscriptionId: string, logId: number): Promise<boolean> {
  return (await tx.run(insert, { subscriptionId, logId, now: tx.now })) > 0
}

/** Returns the first replays of a subscription in log order. */
export function readReplays(db: Reader, subscriptionId: string, limit: number): Promise<Replay[]> {
  return db.all(oldest, { subscriptionId, limit })
}

/** Removes the replays of events up to a logId; without one, all of the subscription. */
export async function deleteReplays(
  tx: Transaction,
  subscriptionId: string,
  upTo = Number.MAX_SAFE_INTEGER,
): Promise<void> {
  await tx.run(remove, { subscriptionId, upTo })
}

/** Returns the ranges of the log that failed since an instant (ms since the epoch). */
export function readFailedRanges(
  db: Reader,
  subscriptionId: string,
  since: number,
): Promise<{ fromLogId: number; toLogId: number }[]> {
  return db.all(failedSince, { subscriptionId, since })
}
