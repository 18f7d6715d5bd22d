import type { LogEvent } from '../../log/event.ts'
import type { EventRow } from '../../log/event-row.ts'
import { eventColumns, eventFromRow } from '../../log/event-store.ts'
import type { StreamCapability } from '../../registry/subscriptions/stream-capabilities.ts'
import type { WakeSubscription } from '../../registry/subscriptions/subscription.ts'
import { type SubscriptionRow, subscriptions } from '../../registry/subscriptions/subscription-row.ts'
import type { Reader, Transaction } from '../../storage/database.ts'
import { ListStatement } from '../../storage/list.ts'
import { lateFilter, limited, p, sql, statement } from '../../storage/statement.ts'
import { endsLease } from './lease-columns.ts'

type HoldingFields = 'id' | 'audience' | 'harnessTarget' | 'streamCapabilities'
/** An active subscription for which presence holds events. The presence of its audience decides. */
export type HoldingSubscription = Pick<WakeSubscription, HoldingFields>
type Row = Pick<SubscriptionRow, HoldingFields>

const columns = subscriptions.select('s', 'id', 'audience', 'harnessTarget', 'streamCapabilities')
// With its limit PostgreSQL looks it up for each subscription, however few rows there were when it made the plan.
const isHolding = sql.raw(`(select 1 from held_wake h
    where h.subscription_id = s.id and h.presence is not null and h.released = 0 limit 1) is not null`)
const ofAudience = statement<{ audience: string }, Row>(
  sql`select ${columns} from subscription s where s.audience = ${p('audience')} and s.status = 'active' and ${isHolding}`,
)
const amongIds = new ListStatement<object, Row>(
  (ids) => sql`select ${columns} from subscription s where s.id in (${ids}) and s.status = 'active' and ${isHolding}`,
)
// One entry of the index: `distinct` would read all events that are held.
const nextHolding = statement<{ after: string }, { id: string }>(sql`select subscription_id as "id" from held_wake
  where presence is not null and released = 0 and subscription_id > ${p('after')} order by subscription_id, log_id limit 1`)
// The events of an earlier release were sent, unless their digest is still open.
const forget = new ListStatement(
  (ids) => sql`delete from held_wake where subscription_id in (${ids}) and released = 1
  and exists (select 1 from subscription where id = held_wake.subscription_id and announces_held = 0)`,
)
const release = statement<{ id: string }>(sql`update held_wake set released = 1
  where subscription_id = ${p('id')} and presence is not null and released = 0`)
const releaseOf = new ListStatement(
  (ids) => sql`update held_wake set released = 1
  where subscription_id in (${ids}) and presence is not null and released = 0`,
)
// An idle subscription has looked at everything: the digest begins before its cursor. What another one has still to look at joins it.
const joins =
  sql.raw(`resume_with_digest = case when status <> 'active' or due_at is null then resume_with_digest else 1 end,
    cursor_log_id = case when status = 'active' and due_at is null
      then (select log_head from project where project.id = subscription.project_id) else cursor_log_id end`)
// A run that is under way ends: its next one sends the digest.
const announce = new ListStatement<{ now: number }, { id: string }>(
  (ids) => sql`update subscription
  set announces_held = generation + 1, ${joins}, generation = generation + 1, generation_at = ${p('now')}, due_at = ${p('now')},
    ${endsLease}, updated_at = ${p('now')}
  where id in (${ids}) and status = 'active' returning id`,
)
const join = statement<{ id: string }>(
  sql`update subscription set announces_held = generation + 1, ${joins} where id = ${p('id')}`,
)
const released = statement<
  { subscriptionId: string; after: number; upTo: number; limit: number },
  EventRow
>(sql`select ${eventColumns}
  from held_wake h join event e on e.project_id = h.project_id and e.log_id = h.log_id
  where h.subscription_id = ${p('subscriptionId')} and h.released = 1 and h.log_id > ${p('after')}
    and ${lateFilter(sql`h.log_id <= ${p('upTo')}`)}
  order by h.log_id ${limited}`)

/** Returns the active subscriptions to an agent's events for which presence holds some. */
export async function findHolding(db: Reader, audience: string): Promise<HoldingSubscription[]> {
  return (await db.all(ofAudience, { audience })).map(fromRow)
}

/** Returns those of the subscriptions that are active, and for which presence holds events. */
export async function findHoldingAmong(db: Reader, ids: readonly string[]): Promise<HoldingSubscription[]> {
  return (await amongIds.all(db, {}, ids)).map(fromRow)
}

/**
 * Returns a page of the active subscriptions for which presence holds events. `next`: the page after it begins after this id; undefined: it
 * is the last one.
 */
export async function listHolding(
  db: Reader,
  after: string,
  limit: number,
): Promise<{ readonly holding: readonly HoldingSubscription[]; readonly next: string | undefined }> {
  const ids: string[] = []
  for (let last: string | undefined = after; last !== undefined && ids.length < limit; ) {
    last = (await db.get(nextHolding, { after: last }))?.id
    if (last !== undefined) ids.push(last)
  }
  return { holding: await findHoldingAmong(db, ids), next: ids.length === limit ? ids.at(-1) : undefined }
}

/**
 * Releases what presence holds for subscriptions, and has each send one digest of that. Nothing for one that is no longer active. Returns
 * the ids of those that will.
 */
export async function releaseHeld(tx: Transaction, ids: readonly string[]): Promise<string[]> {
  const announcing = (await announce.all(tx, { now: tx.now }, ids)).map(({ id }) => id)
  await releaseOf.run(tx, {}, announcing)
  return announcing
}

/** Adds the events that presence holds for a subscription to the digest that it will send anyway, so that the next edge does not repeat them. */
export async function releaseWithDigest(tx: Transaction, id: string): Promise<void> {
  await forgetReleased(tx, [id])
  if ((await tx.run(release, { id })) > 0) await tx.run(join, { id })
}

/** Forgets what an earlier release has sent. Call it before `releaseHeld`. */
export async function forgetReleased(tx: Transaction, ids: readonly string[]): Promise<void> {
  await forget.run(tx, {}, ids)
}

/** Returns a page of the released events of a subscription in `(after, upTo]`, oldest first. */
export async function listReleased(
  db: Reader,
  subscriptionId: string,
  { after, upTo, limit }: { readonly after: number; readonly upTo: number; readonly limit: number },
): Promise<LogEvent[]> {
  return (await db.all(released, { subscriptionId, after, upTo, limit })).map(eventFromRow)
}

function fromRow({ streamCapabilities, ...row }: Row): HoldingSubscription {
  return { streamCapabilities: JSON.parse(streamCapabilities) as StreamCapability[], ...row }
}
