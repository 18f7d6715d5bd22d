import type { Subscription } from '../../registry/subscriptions/subscription.ts'
import {
  type SubscriptionRow,
  subscriptionColumns,
  subscriptionFromRow,
} from '../../registry/subscriptions/subscription-row.ts'
import type { Database, Reader, Transaction } from '../../storage/database.ts'
import { RowsStatement } from '../../storage/rows.ts'
import {
  inOnce,
  joined,
  lateFilter,
  limited,
  p,
  type SQL,
  skipLocked,
  sql,
  statement,
} from '../../storage/statement.ts'
import type { LeaseKey } from './lease.ts'

/**
 * How long a lease lasts unless it is renewed: longer than the longest attempt. Every record renews it.
 * The `due_at` of a leased subscription is the end of its lease: the work of a dead gateway falls due without further action.
 */
export const leaseMs = 60_000

/** How many agents a query for due subscriptions can exclude. */
const excludedMax = 8
const notExcluded = sql`agent_id not in (${sql.join(
  Array.from({ length: excludedMax }, (_, index) => p(`agent${index}`)),
  sql`, `,
)})`
// The end of the range is stored with the lease: a digest that is sent again after a crash covers the same events.
// A stream is written to by the gateway that it is connected to.
const isOurs = sql`(stream_gateway is null or stream_gateway = ${p('gatewayId')})`
/** A subscription that fell due while its agent was parked may have an earlier time. Source: D50. */
const isNotParked = lateFilter(sql`parked_until is null or parked_until <= ${p('now')}`)
/** A subscription that its client has not refreshed is sent to no more, before a sweep removes it. */
const isLiving = lateFilter(sql`expires_at is null or expires_at > ${p('now')}`)
const leaseWhere = (condition: SQL) =>
  statement<
    { owner: string; gatewayId: string; now: number; leasedUntil: number; limit: number },
    SubscriptionRow
  >(sql`update subscription
  set lease_owner = ${p('owner')}, due_at = ${p('leasedUntil')},
    claimed_to_log_id = coalesce(claimed_to_log_id, (select log_head from project where project.id = subscription.project_id))
  where id ${inOnce(sql`select id from subscription
    where due_at <= ${p('now')} and ${condition} and ${isOurs} and ${isNotParked} and ${isLiving} order by due_at ${limited} ${skipLocked}`)}
  returning ${subscriptionColumns}`)
// Late, because only the index of what is due finds it: in a store that was small PostgreSQL read the index of all that are active.
const isActive = lateFilter(sql`status = 'active'`)
const leaseAny = leaseWhere(isActive)
const leaseNotExcluded = leaseWhere(sql`${isActive} and ${notExcluded}`)
const leaseIdleRows = new RowsStatement<SubscriptionRow>(
  'text text bigint bigint',
  (rows) => sql`update subscription set lease_owner = v.column2, due_at = v.column3, cursor_log_id = v.column4
  from (values ${rows}) v where id = ${joined('v.column1')} and ${lateFilter(sql`due_at is null`)} and ${lateFilter(sql`expires_at is null or expires_at > v.column3 - ${sql.raw(String(leaseMs))}`)}
  returning ${subscriptionColumns}`,
)
const nextDueWhere = (condition: SQL) =>
  statement<{ gatewayId: string; now: number }, { dueAt: number | null }>(
    sql`select min(due_at) as "dueAt" from subscription where due_at is not null and ${condition} and ${isOurs} and ${isNotParked} and ${isLiving}`,
  )
const nextDue = nextDueWhere(isActive)
const nextDueNotExcluded = nextDueWhere(sql`${isActive} and ${notExcluded}`)
const renew = statement<{ id: string; owner: string; leasedUntil: number; now: number }>(
  sql`update subscription set due_at = ${p('leasedUntil')} where id = ${p('id')} and lease_owner = ${p('owner')} and ${isNotParked}`,
)
const requeue = statement<{ id: string; owner: string; dueAt: number }>(
  sql`update subscription set due_at = case when parked_until > ${p('dueAt')} then parked_until else cast(${p('dueAt')} as bigint) end,
    lease_owner = null where id = ${p('id')} and lease_owner = ${p('owner')}`,
)
// Nothing waits longer than a window, a park or a lease. The run of a leased subscription renews its lease from here.
const windowEnd = sql`cast(${p('now')} as bigint) + coalesce_ms`
const latest = sql`case when lease_owner is not null then cast(${p('leasedUntil')} as bigint)
    when parked_until > ${windowEnd} then parked_until else ${windowEnd} end`
const shortenWaits = statement<{ now: number; leasedUntil: number }>(sql`update subscription
  set due_at = ${latest}
  where status = 'active' and due_at > ${p('now')}
    and due_at > ${latest}`)
const requeueEvery = statement<{ now: number }>(
  sql`update subscription set lease_owner = null, due_at = ${p('now')} where lease_owner is not null`,
)

/**
 * Leases up to `limit` due subscriptions, except those of the excluded agents (of more than eight, the first eight). `owner` is
 * unique to this call, so that writes of an earlier lease fail. Subscriptions whose stream is connected to another gateway are left out.
 */
export function leaseDue(
  db: Database,
  owner: string,
  limit: number,
  excluded: readonly string[] = [],
): Promise<Subscription[]> {
  return db.transaction(async (tx) => {
    const params = { owner, gatewayId: gatewayOf(owner), now: tx.now, leasedUntil: tx.now + leaseMs, limit }
    const rows = await (excluded.length === 0
      ? tx.all(leaseAny, params)
      : tx.all(leaseNotExcluded, { ...params, ...agentParams(excluded) }))
    return rows.map(subscriptionFromRow)
  })
}

/** The owner of a lease is `<gateway id>.<number>`. */
function gatewayOf(owner: string): string {
  return owner.replace(/\.\d+$/, '')
}

function agentParams(agentIds: readonly string[]): Record<string, string> {
  return Object.fromEntries(Array.from({ length: excludedMax }, (_, index) => [`agent${index}`, agentIds[index] ?? '']))
}

/** An idle subscription to lease. Its cursor skips what lies before the first event that wakes it. */
interface IdleLease {
  readonly id: string
  readonly owner: string
  readonly skippedTo: number
}

/**
 * Leases idle subscriptions in the transaction that appends events for them: the gateway that accepts an event also sends it,
 * without a second transaction. Returns those that were still idle.
 */
export async function leaseIdle(tx: Transaction, leases: readonly IdleLease[]): Promise<Subscription[]> {
  const leasedUntil = tx.now + leaseMs
  const rows = leases.map(({ id, owner, skippedTo }) => [id, owner, leasedUntil, skippedTo])
  return (await leaseIdleRows.all(tx, rows)).map(subscriptionFromRow)
}

/**
 * Returns when the next subscription falls due that lives at `now` and is not parked (both ms since the epoch), or undefined when none waits.
 */
export async function nextDueAt(
  db: Reader,
  gatewayId: string,
  now: number,
  excluded: readonly string[] = [],
): Promise<number | undefined> {
  const row = await (excluded.length === 0
    ? db.get(nextDue, { gatewayId, now })
    : db.get(nextDueNotExcluded, { gatewayId, now, ...agentParams(excluded) }))
  return row?.dueAt ?? undefined
}

/** Returns false when the lease was lost, or its agent was parked: a normal outcome, not an error. */
export async function renewLease(tx: Transaction, lease: LeaseKey, leasedUntil: number): Promise<boolean> {
  return (await tx.run(renew, { id: lease.subscriptionId, owner: lease.owner, leasedUntil, now: tx.now })) > 0
}

/** Ends an unfinished lease. The next one, from `dueAt` or the end of a park on, gets the same range. */
export async function requeueLease(tx: Transaction, lease: LeaseKey, dueAt: number): Promise<boolean> {
  return (await tx.run(requeue, { id: lease.subscriptionId, owner: lease.owner, dueAt })) > 0
}

/**
 * Corrects due times after the clock was set back: brings forward whatever is due later than any window or lease allows. This
 * includes long waits that a receiver requested: their run looks at the delivery early, and waits on. Returns how many changed.
 */
export function pullForward(db: Database): Promise<number> {
  return db.transaction((tx) => tx.run(shortenWaits, { now: tx.now, leasedUntil: tx.now + leaseMs }))
}

/** Makes every leased subscription due now. Only where no other gateway can be alive on this store. */
export function requeueAll(db: Database): Promise<number> {
  return db.transaction((tx) => tx.run(requeueEvery, { now: tx.now }))
}
