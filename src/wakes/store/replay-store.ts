import type { Reader, Transaction } from '../../storage/database.ts'
import { RowsStatement } from '../../storage/rows.ts'
import { limited, p, sql, statement } from '../../storage/statement.ts'

/** One event to send again. `requestedAt` makes its emission a new one, and the same one for every retry. */
export interface Replay {
  readonly logId: number
  readonly requestedAt: number
}

const insert = new RowsStatement<{ logId: number }>(
  'text bigint bigint',
  (rows) => sql`insert into replay (subscription_id, log_id, requested_at) values ${rows}
  on conflict (subscription_id, log_id) do nothing returning log_id as "logId"`,
)
const oldest = statement<{ subscriptionId: string; limit: number }, Replay>(
  sql`select log_id as "logId", requested_at as "requestedAt" from replay
    where subscription_id = ${p('subscriptionId')} order by log_id ${limited}`,
)
const remove = statement<{ subscriptionId: string; upTo: number }>(
  sql`delete from replay where subscription_id = ${p('subscriptionId')} and log_id <= ${p('upTo')}`,
)
const failedSince = statement<
  { subscriptionId: string; since: number; limit: number },
  { fromLogId: number; toLogId: number }
>(sql`select from_log_id as "fromLogId", to_log_id as "toLogId" from delivery
  where subscription_id = ${p('subscriptionId')} and outcome = 'failed' and updated_at >= ${p('since')} order by event_id ${limited}`)

/** Notes events to be sent again. Returns how many were not noted before. */
export async function insertReplays(
  tx: Transaction,
  subscriptionId: string,
  logIds: readonly number[],
): Promise<number> {
  const rows = logIds.map((logId) => [subscriptionId, logId, tx.now])
  return (await insert.all(tx, rows)).length
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

/** Returns the first ranges of the log that failed since an instant (ms since the epoch). */
export function readFailedRanges(
  db: Reader,
  subscriptionId: string,
  since: number,
  limit: number,
): Promise<{ fromLogId: number; toLogId: number }[]> {
  return db.all(failedSince, { subscriptionId, since, limit })
}
