import type { JsonObject } from '../../lib/json.ts'
import { type EventType, eventTypes, type LogEvent } from '../../log/event.ts'
import type { StreamCapability } from '../../registry/subscriptions/stream-capabilities.ts'
import type { HarnessTarget } from '../../registry/subscriptions/targets.ts'
import type { Reader, Transaction } from '../../storage/database.ts'
import { lateFilter, limited, p, sql, statement } from '../../storage/statement.ts'
import { endsLease } from './lease-columns.ts'

/** An active subscription for which presence holds events. */
export interface HoldingSubscription {
  readonly id: string
  /** The id of the agent whose presence decides. */
  readonly audience: string
  readonly harnessTarget: HarnessTarget
  readonly streamCapabilities: readonly StreamCapability[]
}

type Row = Omit<HoldingSubscription, 'streamCapabilities'> & { streamCapabilities: string }

const columns = sql.raw(
  `s.id, s.audience, s.harness_target as "harnessTarget", s.stream_capabilities as "streamCapabilities"`,
)
// With its limit PostgreSQL looks it up for each subscription, however few rows there were when it made the plan.
const isHolding = sql.raw(`(select 1 from held_wake h
    where h.subscription_id = s.id and h.presence is not null and h.released = 0 limit 1) is not null`)
const ofAudience = statement<{ audience: string }, Row>(
  sql`select ${columns} from subscription s where s.audience = ${p('audience')} and s.status = 'active' and ${isHolding}`,
)
const one = statement<{ id: string }, Row>(
  sql`select ${columns} from subscription s where s.id = ${p('id')} and s.status = 'active' and ${isHolding}`,
)
const page = statement<{ after: string; limit: number }, Row>(sql`select ${columns} from (
    select distinct subscription_id from held_wake
    where presence is not null and released = 0 and subscription_id > ${p('after')}
      and exists (select 1 from subscription where id = subscription_id) order by subscription_id ${limited}) page
  cross join subscription s where s.id = page.subscription_id order by s.id`)
// The events of an earlier release were sent, unless their digest is still open.
const forget = statement<{ id: string }>(sql`delete from held_wake where subscription_id = ${p('id')} and released = 1
  and exists (select 1 from subscription where id = ${p('id')} and announces_held = 0)`)
const release = statement<{ id: string }>(sql`update held_wake set released = 1
  where subscription_id = ${p('id')} and presence is not null and released = 0`)
// An idle subscription has looked at everything: the digest begins before its cursor. What another one has still to look at joins it.
const joins =
  sql.raw(`resume_with_digest = case when status <> 'active' or due_at is null then resume_with_digest else 1 end,
    cursor_log_id = case when status = 'active' and due_at is null
      then (select log_head from project where project.id = subscription.project_id) else cursor_log_id end`)
// A run that is under way ends: its next one sends the digest.
const announce = statement<{ id: string; now: number }>(sql`update subscription
  set announces_held = generation + 1, ${joins}, generation = generation + 1, generation_at = ${p('now')}, due_at = ${p('now')},
    ${endsLease}, updated_at = ${p('now')}
  where id = ${p('id')} and status = 'active'`)
const join = statement<{ id: string }>(
  sql`update subscription set announces_held = generation + 1, ${joins} where id = ${p('id')}`,
)
const released = statement<
  { subscriptionId: string; after: number; upTo: number; limit: number },
  Omit<LogEvent, 'data' | 'trigger'> & { data: string }
>(sql`select e.project_id as "projectId", e.log_id as "logId", e.type, e.task_id as "taskId", e.actor, e.actor_id as "actorId",
    e.data, e.created_at as "createdAt"
  from held_wake h join event e on e.project_id = h.project_id and e.log_id = h.log_id
  where h.subscription_id = ${p('subscriptionId')} and h.released = 1 and h.log_id > ${p('after')}
    and ${lateFilter(sql`h.log_id <= ${p('upTo')}`)}
  order by h.log_id ${limited}`)

/** Returns the active subscriptions to an agent's events for which presence holds some. */
export async function findHolding(db: Reader, audience: string): Promise<HoldingSubscription[]> {
  return (await db.all(ofAudience, { audience })).map(fromRow)
}

/** Returns a subscription if it is active, and presence holds events for it. */
export async function findHoldingOne(db: Reader, id: string): Promise<HoldingSubscription | undefined> {
  const row = await db.get(one, { id })
  return row && fromRow(row)
}

/** Returns a page of the subscriptions for which presence holds events, in the order of their ids, active or not. */
export async function listHolding(db: Reader, after: string, limit: number): Promise<HoldingSubscription[]> {
  return (await db.all(page, { after, limit })).map(fromRow)
}

/** Releases what presence holds for a subscription, and has it send one digest of that. Nothing where it is no longer active. */
export async function releaseHeld(tx: Transaction, id: string): Promise<boolean> {
  if ((await tx.run(announce, { id, now: tx.now })) === 0) return false
  return (await tx.run(release, { id })) > 0
}

/** Adds the events that presence holds for a subscription to the digest that it will send anyway, so that the next edge does not repeat them. */
export async function releaseWithDigest(tx: Transaction, id: string): Promise<void> {
  await forgetReleased(tx, id)
  if ((await tx.run(release, { id })) > 0) await tx.run(join, { id })
}

/** Forgets what an earlier release has sent. Call it before `releaseHeld`. */
export async function forgetReleased(tx: Transaction, id: string): Promise<void> {
  await tx.run(forget, { id })
}

/** Returns a page of the released events of a subscription in `(after, upTo]`, oldest first. */
export async function listReleased(
  db: Reader,
  subscriptionId: string,
  { after, upTo, limit }: { readonly after: number; readonly upTo: number; readonly limit: number },
): Promise<LogEvent[]> {
  return (await db.all(released, { subscriptionId, after, upTo, limit })).map((row) => ({
    ...row,
    trigger: eventTypes[row.type as EventType] ?? null,
    data: JSON.parse(row.data) as JsonObject,
  }))
}

function fromRow({ streamCapabilities, ...row }: Row): HoldingSubscription {
  return { ...row, streamCapabilities: JSON.parse(streamCapabilities) as StreamCapability[] }
}
