import type { Reader } from '../../storage/database.ts'
import { p, sql, statement } from '../../storage/statement.ts'
import type { SubscriptionStatus } from './status.ts'

/** Subscriptions that have a status and a target. */
interface CountedAlike {
  readonly status: SubscriptionStatus
  /** The harness target, or `push` of a push notification config. */
  readonly target: string
  readonly count: number
}

/** Subscriptions that are due. `since`: when the first of them fell due, ms since the epoch. */
interface CountedDue extends CountedAlike {
  readonly since: number
}

const target = sql.raw(`case when kind = 'push' then 'push' else harness_target end as "target"`)
const all = statement<object, CountedAlike>(
  sql`select status, ${target}, count(*) as "count" from subscription group by 1, 2`,
)
const due = statement<{ now: number }, CountedDue>(
  sql`select status, ${target}, count(*) as "count", min(due_at) as "since" from subscription
    where due_at <= ${p('now')} group by 1, 2`,
)

/** Counts the subscriptions of all projects, and those of them that are due. */
export async function countSubscriptions(
  db: Reader,
  now: number,
): Promise<{ readonly all: readonly CountedAlike[]; readonly due: readonly CountedDue[] }> {
  const [everyone, waiting] = await Promise.all([db.all(all, {}), db.all(due, { now })])
  return { all: everyone, due: waiting }
}
