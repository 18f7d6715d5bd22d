import type { Subscription } from '../../registry/subscriptions/subscription.ts'
import {
  type SubscriptionRow,
  subscriptionColumns,
  subscriptionFromRow,
} from '../../registry/subscriptions/subscription-row.ts'
import type { Database, Reader, Transaction } from '../../storage/database.ts'
import { RowsStatement } from '../../storage/rows.ts'
import { lateFilter, limited, p, type SQL, skipLocked, sql, statement } from '../../storage/statement.ts'

/**
 * How long a lease lasts without a sign of life: longer than the longest attempt, and renewed with every record.
 * A leased subscription's `due_at` is the end of its lease, so that a dead dispatcher's work falls due by itself.
 */
export const leaseMs = 60_000

/** How many agents a lease can leave out. */
const leftOutMax = 8
const leftOut = sql`agent_id not in (${sql.join(
  Array.from({ length: leftOutMax }, (_, index) => p(`agent${index}`)),
  sql`, `,
)})`
// The end of the range is kept with the lease: a digest that is sent again after a crash covers the same events.
const leaseWhere = (condition: SQL) =>
  statement<{ owner: string; now: number; leasedUntil: number; limit: number }, SubscriptionRow>(sql`update subscription
  set lease_owner = ${p('owner')}, due_at = ${p('leasedUntil')},
    claimed_to_log_id = coalesce(claimed_to_log_id, (select log_head from project where project.id = subscription.project_id))
  where id in (select id from subscription where due_at <= ${p('now')} and ${condition} order by due_at ${limited} ${skipLocked})
  returning ${subscriptionColumns}`)
const leaseOfAny = leaseWhere(sql`status = 'active'`)
const leaseOfOthers = leaseWhere(sql`status = 'active' and ${leftOut}`)
const bigint = (value: SQL): SQL => sql`cast(${value} as bigint)`
const leaseRows = new RowsStatement<SubscriptionRow>(
  (value) => sql`${value(0)}, ${value(1)}, ${bigint(value(2))}, ${bigint(value(3))}`,
  4,
  (rows) => sql`update subscription set lease_owner = v.column2, due_at = v.column3, cursor_log_id = v.column4
  from (values ${rows}) v where id = v.column1 and ${lateFilter(sql`due_at is null`)}
  returning ${subscriptionColumns}`,
)
const nextDueWhere = (condition: SQL) =>
  statement<object, { dueAt: number | null }>(
    sql`select min(due_at) as "dueAt" from subscription where due_at is not null and ${condition}`,
  )
const nextDue = nextDueWhere(sql`status = 'active'`)
const nextDueOfOthers = nextDueWhere(sql`status = 'active' and ${leftOut}`)
const renew = statement<{ id: string; owner: string; leasedUntil: number }>(
  sql`update subscription set due_at = ${p('leasedUntil')} where id = ${p('id')} and lease_owner = ${p('owner')}`,
)
const advance = new RowsStatement<{ id: string; owner: string }>(
  (value) =>
    sql`${value(0)}, ${value(1)}, ${sql.join(
      [2, 3, 4, 5, 6].map((column) => bigint(value(column))),
      sql`, `,
    )}`,
  7,
  (
    rows,
  ) => sql`update subscription set cursor_log_id = v.column3, last_emitted_log_id = v.column4, failed_in_a_row = v.column5,
    window_until = v.column6, due_at = v.column7
  from (values ${rows}) v where id = v.column1 and lease_owner = v.column2 returning id, lease_owner as "owner"`,
)
// Replays may have been asked for while the run was sending: then it is due at once.
const release = new RowsStatement<{ id: string; dueAt: number | null }>(
  (value) =>
    sql`${value(0)}, ${value(1)}, ${sql.join(
      [2, 3, 4, 5, 6, 7].map((column) => bigint(value(column))),
      sql`, `,
    )}`,
  8,
  (
    rows,
  ) => sql`update subscription set cursor_log_id = v.column3, last_emitted_log_id = v.column4, failed_in_a_row = v.column5,
    window_until = v.column6, lease_owner = null, claimed_to_log_id = null, resume_with_digest = 0,
    due_at = case when exists (select 1 from replay where subscription_id = subscription.id) then v.column8 else v.column7 end
  from (values ${rows}) v where id = v.column1 and lease_owner = v.column2 returning id, due_at as "dueAt"`,
)
const handBack = statement<{ id: string; owner: string; dueAt: number }>(
  sql`update subscription set due_at = ${p('dueAt')}, lease_owner = null where id = ${p('id')} and lease_owner = ${p('owner')}`,
)
// Nobody waits longer than a window, or a lease; a leased one is renewed from then on by whoever works it.
const pullIn = statement<{ now: number; leasedUntil: number }>(sql`update subscription
  set due_at = case when lease_owner is null then cast(${p('now')} as bigint) + coalesce_ms else cast(${p('leasedUntil')} as bigint) end
  where status = 'active' and due_at > ${p('now')}
    and due_at > case when lease_owner is null then cast(${p('now')} as bigint) + coalesce_ms else cast(${p('leasedUntil')} as bigint) end`)
const reclaim = statement<{ now: number }>(
  sql`update subscription set lease_owner = null, due_at = ${p('now')} where lease_owner is not null`,
)

/** How far a subscription has come: what a delivery changes. */
export interface Progress {
  cursorLogId: number
  lastEmittedLogId: number | null
  failedInARow: number
  windowUntil: number
}

/** A lease being worked on: whose it is, how far it has come, whether it was lost. */
export interface Lease {
  readonly subscriptionId: string
  /** Whose wakes they are: the agent's id, or the task's. */
  readonly audience: string
  readonly owner: string
  /** When it began, ms since the epoch. */
  readonly since: number
  progress: Progress
  lost: boolean
}

/** So long a gateway keeps a subscription that always has more to send; then others may have it, whichever has time. */
const keepMs = 2_000

export const isHeldLong = ({ since }: Lease, now: number): boolean => now - since >= keepMs

/**
 * Takes up to `limit` due subscriptions, but none of the agents that are left out (of more than eight, the first eight). `owner`
 * names this lease alone: it fences off whoever held the lease before.
 */
export function leaseDue(
  db: Database,
  owner: string,
  limit: number,
  leftOut: readonly string[] = [],
): Promise<Subscription[]> {
  return db.transaction(async (tx) => {
    const params = { owner, now: tx.now, leasedUntil: tx.now + leaseMs, limit }
    const rows = await (leftOut.length === 0
      ? tx.all(leaseOfAny, params)
      : tx.all(leaseOfOthers, { ...params, ...agentParams(leftOut) }))
    return rows.map(subscriptionFromRow)
  })
}

function agentParams(agentIds: readonly string[]): Record<string, string> {
  return Object.fromEntries(Array.from({ length: leftOutMax }, (_, index) => [`agent${index}`, agentIds[index] ?? '']))
}

/** An idle subscription, and the cursor that it is leased with. */
interface IdleLease {
  readonly id: string
  readonly owner: string
  readonly skippedTo: number
}

/**
 * Takes idle subscriptions in the transaction that appends events for them: who accepts an event also sends it, with no
 * second transaction between. Answers those that were idle still.
 */
export async function leaseIdle(tx: Transaction, leases: readonly IdleLease[]): Promise<Subscription[]> {
  const leasedUntil = tx.now + leaseMs
  const rows = leases.map(({ id, owner, skippedTo }) => [id, owner, leasedUntil, skippedTo])
  return (await leaseRows.all(tx, rows)).map(subscriptionFromRow)
}

/** When the next subscription falls due, or undefined when none waits. */
export async function nextDueAt(db: Reader, leftOut: readonly string[] = []): Promise<number | undefined> {
  const row = await (leftOut.length === 0 ? db.get(nextDue, {}) : db.get(nextDueOfOthers, agentParams(leftOut)))
  return row?.dueAt ?? undefined
}

/** Each of these answers false when the lease was lost meanwhile: a normal outcome, not an error. */
export async function renewLease(tx: Transaction, id: string, owner: string, leasedUntil: number): Promise<boolean> {
  return (await tx.run(renew, { id, owner, leasedUntil })) > 0
}

export async function advanceCursor(tx: Transaction, id: string, owner: string, progress: Progress): Promise<boolean> {
  return (await advanceCursors(tx, [{ subscriptionId: id, owner, progress }])).size > 0
}

export interface Advance {
  readonly subscriptionId: string
  readonly owner: string
  readonly progress: Progress
}

/** Keeps how far leases have come. Answers those that still hold their lease. */
export async function advanceCursors<Held extends Advance>(
  tx: Transaction,
  leases: readonly Held[],
): Promise<ReadonlySet<Held>> {
  const leasedUntil = tx.now + leaseMs
  const rows = leases.map(({ subscriptionId, owner, progress }) => [
    subscriptionId,
    owner,
    ...progressRow(progress),
    leasedUntil,
  ])
  const held = new Set((await advance.all(tx, rows)).map(({ id, owner }) => `${id} ${owner}`))
  return new Set(leases.filter(({ subscriptionId, owner }) => held.has(`${subscriptionId} ${owner}`)))
}

function progressRow({ cursorLogId, lastEmittedLogId, failedInARow, windowUntil }: Progress): (number | null)[] {
  return [cursorLogId, lastEmittedLogId, failedInARow, windowUntil]
}

/** The end of a run: nothing is left up to its cursor. `dueAt` null: it falls due with its next event. */
export interface Release extends Advance {
  readonly dueAt: number | null
}

/** Gives leases back. Answers, of the subscriptions whose lease was still held, when each falls due again (null: not by itself). */
export async function releaseLeases(
  tx: Transaction,
  releases: readonly Release[],
): Promise<ReadonlyMap<string, number | null>> {
  const rows = releases.map(({ subscriptionId, owner, progress, dueAt }) => [
    subscriptionId,
    owner,
    ...progressRow(progress),
    dueAt,
    tx.now,
  ])
  return new Map((await release.all(tx, rows)).map((row) => [row.id, row.dueAt]))
}

/** Gives an unfinished run to whoever leases next, with the same range. */
export async function requeueLease(tx: Transaction, id: string, owner: string, dueAt: number): Promise<boolean> {
  return (await tx.run(handBack, { id, owner, dueAt })) > 0
}

/**
 * For when the clock was set back: what falls due later than any window or lease explains is pulled in. A wait that a receiver
 * asked for is longer than that: it is looked at early, and goes on. Answers how many were pulled in.
 */
export function pullForward(db: Database): Promise<number> {
  return db.transaction((tx) => tx.run(pullIn, { now: tx.now, leasedUntil: tx.now + leaseMs }))
}

/** Makes every leased subscription due now. Only where no other gateway can be alive on this store. */
export function requeueAll(db: Database): Promise<number> {
  return db.transaction((tx) => tx.run(reclaim, { now: tx.now }))
}
