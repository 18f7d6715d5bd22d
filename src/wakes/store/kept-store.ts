import type { Subscription } from '../../registry/subscriptions/subscription.ts'
import type { Database, Reader, Transaction } from '../../storage/database.ts'
import { deleteInBatches } from '../../storage/delete-in-batches.ts'
import { lateFilter, limited, p, sql, statement } from '../../storage/statement.ts'
import { gatedTargets } from '../../words/targets.ts'

const gated = sql.raw(`s.harness_target in ('${gatedTargets.join("', '")}')`)
const kind = statement<{ id: string }, Pick<Subscription, 'kind'>>(
  sql`select kind from subscription where id = ${p('id')}`,
)
const page = statement<{ after: string; limit: number }, { id: string }>(
  sql`select id from subscription where id > ${p('after')} order by id ${limited}`,
)
interface Nth<Key> {
  readonly id: string
  readonly before: Key
  readonly offset: number
}
const nthHeld = statement<Nth<number>, { key: number }>(sql`select log_id as "key" from held_wake
  where subscription_id = ${p('id')} and log_id < ${p('before')} order by log_id desc limit 1 offset ${p('offset')}`)
const nthDelivery = statement<Nth<string>, { key: string }>(sql`select event_id as "key" from delivery
  where subscription_id = ${p('id')} and event_id < ${p('before')} order by event_id desc limit 1 offset ${p('offset')}`)
interface Trim<Key> {
  readonly id: string
  readonly floor: Key
  readonly limit: number
}
// Where presence decides, a run that has still to pass a held event reads that it was held. An open digest reads what was released.
const isPassed = lateFilter(sql`exists (select 1 from subscription s where s.id = h.subscription_id
  and (h.log_id <= s.cursor_log_id or s.status = 'active' and s.due_at is null or not ${gated})
  and (h.released = 0 or s.announces_held = 0))`)
const trimHeld = statement<
  Trim<number>
>(sql`delete from held_wake as h where h.subscription_id = ${p('id')} and ${isPassed}
  and h.log_id <= (select max(log_id) from (select h.log_id from held_wake h
    where h.subscription_id = ${p('id')} and h.log_id < ${p('floor')} and ${isPassed} order by h.log_id ${limited}) step)`)
const isFinished = lateFilter(sql`outcome <> 'pending' and emission is null`)
const trimDeliveries = statement<
  Trim<string>
>(sql`delete from delivery where subscription_id = ${p('id')} and ${isFinished}
  and event_id <= (select max(event_id) from (select event_id from delivery
    where subscription_id = ${p('id')} and event_id < ${p('floor')} and ${isFinished} order by event_id ${limited}) step)`)

/** Returns the kind of a subscription, or undefined when it was removed. */
export async function kindOf(db: Reader, id: string): Promise<Subscription['kind'] | undefined> {
  return (await db.get(kind, { id }))?.kind
}

/** Returns the ids of the next subscriptions after one of them. */
export async function subscriptionIdsAfter(db: Reader, after: string, limit: number): Promise<string[]> {
  return (await db.all(page, { after, limit })).map(({ id }) => id)
}

/** How many rows one query of a search passes. */
const searchStep = 2_000

/** Returns the key of the oldest of the newest `keep` rows; undefined: there are no more than that, or fewer. */
async function oldestKept<Key>(
  next: (before: Key, offset: number) => Promise<{ key: Key } | undefined>,
  newest: Key,
  keep: number,
): Promise<Key | undefined> {
  let before = newest
  for (let left = keep; left > 0; left -= searchStep) {
    const row = await next(before, Math.min(left, searchStep) - 1)
    if (!row) return undefined
    before = row.key
    if (left > searchStep) await new Promise(setImmediate)
  }
  return before
}

/** Removes all held events of a subscription but the newest, and those that are still needed. Returns how many. */
export async function trimHeldOf(db: Database, id: string, keep: number, signal: AbortSignal): Promise<number> {
  const next = (before: number, offset: number) => db.get(nthHeld, { id, before, offset })
  const floor = await oldestKept(next, Number.MAX_SAFE_INTEGER, keep)
  if (floor === undefined) return 0
  const remove = (tx: Transaction, of: string, limit: number) => tx.run(trimHeld, { id: of, floor, limit })
  return deleteInBatches(db, [id], remove, signal)
}

/** Removes all deliveries of a subscription but the newest, and those that are not finished. Returns how many. */
export async function trimDeliveriesOf(db: Database, id: string, keep: number, signal: AbortSignal): Promise<number> {
  const next = (before: string, offset: number) => db.get(nthDelivery, { id, before, offset })
  // 'Z' sorts after every ULID's first digit.
  const floor = await oldestKept(next, 'Z', keep)
  if (floor === undefined) return 0
  const remove = (tx: Transaction, of: string, limit: number) => tx.run(trimDeliveries, { id: of, floor, limit })
  return deleteInBatches(db, [id], remove, signal)
}
