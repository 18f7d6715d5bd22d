import type { Failing } from '../../registry/subscriptions/subscription.ts'
import type { Transaction } from '../../storage/database.ts'
import { RowsStatement } from '../../storage/rows.ts'
import { joined, p, sql, statement } from '../../storage/statement.ts'
import type { Lease, LeaseKey, Progress } from './lease.ts'
import { endsLease } from './lease-columns.ts'
import { leaseMs } from './lease-store.ts'

// An event that arrives ends the failures in a row.
const endsFailing = sql.raw(`failing_cursor_log_id = case when v.column5 = 0 then null else failing_cursor_log_id end,
    failing_emitted_log_id = case when v.column5 = 0 then null else failing_emitted_log_id end`)
const advance = new RowsStatement<{ id: string; owner: string }>(
  'text text bigint bigint bigint bigint bigint',
  (
    rows,
  ) => sql`update subscription set cursor_log_id = v.column3, last_emitted_log_id = v.column4, failed_in_a_row = v.column5,
    window_until = v.column6, due_at = v.column7, ${endsFailing}
  from (values ${rows}) v where id = ${joined('v.column1')} and lease_owner = v.column2 returning id, lease_owner as "owner"`,
)
// A recovery may have gone back before this lease, and a resync asks for what it has sent.
const follow = new RowsStatement(
  'text bigint bigint bigint bigint bigint',
  (rows) => sql`update subscription set cursor_log_id = v.column2, last_emitted_log_id = v.column3,
    window_until = v.column4, failed_in_a_row = 0, failing_cursor_log_id = null, failing_emitted_log_id = null
  from (values ${rows}) v where id = ${joined('v.column1')} and cursor_log_id >= v.column5 and cursor_log_id < v.column2
    and resynced_generation <= v.column6`,
)
// A replay may have been requested during the run: then the subscription is due at once.
const release = new RowsStatement<{ id: string; dueAt: number | null }>(
  'text text bigint bigint bigint bigint bigint bigint',
  (
    rows,
  ) => sql`update subscription set cursor_log_id = v.column3, last_emitted_log_id = v.column4, failed_in_a_row = v.column5,
    window_until = v.column6, ${endsFailing}, ${endsLease}, resume_with_digest = 0,
    announces_waiting = 0, announces_held = 0,
    due_at = case when exists (select 1 from replay where subscription_id = subscription.id) then v.column8 else v.column7 end
  from (values ${rows}) v where id = ${joined('v.column1')} and lease_owner = v.column2 returning id, due_at as "dueAt"`,
)
const keepFirst = statement<{ id: string; owner: string } & Failing>(sql`update subscription
  set failing_cursor_log_id = ${p('cursorLogId')}, failing_emitted_log_id = ${p('lastEmittedLogId')}
  where id = ${p('id')} and lease_owner = ${p('owner')} and failing_cursor_log_id is null`)
const gather = statement<{ id: string; owner: string }>(
  sql`update subscription set resume_with_digest = 1 where id = ${p('id')} and lease_owner = ${p('owner')}`,
)
const gap = statement<{ id: string }>(sql`update subscription set has_gap = 1 where id = ${p('id')} and has_gap = 0`)

/** Notes that an event was given up, which the client of the subscription learns by a message, and by its next refresh. */
export async function noteGap(tx: Transaction, id: string): Promise<void> {
  await tx.run(gap, { id })
}

/** Writes how far a lease has come, and renews it. Returns false when it was lost. */
export async function advanceCursor(tx: Transaction, lease: LeaseKey, progress: Progress): Promise<boolean> {
  const { subscriptionId, owner } = lease
  return (await advanceCursors(tx, [{ subscriptionId, owner, progress }])).size > 0
}

/** Keeps where the subscription of a lease is, unless it has failed before since its last event arrived. Source: D30. */
export async function keepFailing(
  tx: Transaction,
  { subscriptionId, owner }: LeaseKey,
  { cursorLogId, lastEmittedLogId }: Failing,
): Promise<void> {
  await tx.run(keepFirst, { id: subscriptionId, owner, cursorLogId, lastEmittedLogId })
}

/** From the next lease on, what gathered meanwhile is one digest. Source: D31. */
export async function resumeWithDigest(tx: Transaction, { subscriptionId, owner }: LeaseKey): Promise<void> {
  await tx.run(gather, { id: subscriptionId, owner })
}

/** The progress of a lease. */
export interface Advance extends LeaseKey {
  readonly progress: Progress
}

/** Writes how far leases have come, and renews them. Returns those that are still held. */
export async function advanceCursors<Item extends Advance>(
  tx: Transaction,
  advances: readonly Item[],
): Promise<ReadonlySet<Item>> {
  const leasedUntil = tx.now + leaseMs
  const rows = advances.map(({ subscriptionId, owner, progress }) => [
    subscriptionId,
    owner,
    ...progressRow(progress),
    leasedUntil,
  ])
  const held = new Set((await advance.all(tx, rows)).map(({ id, owner }) => `${id} ${owner}`))
  return new Set(advances.filter(({ subscriptionId, owner }) => held.has(`${subscriptionId} ${owner}`)))
}

/**
 * Moves the cursors of subscriptions whose leases were lost over what has arrived under them: a receiver may answer after a pause, or after
 * another lease has begun.
 */
export async function followArrivals(
  tx: Transaction,
  lost: readonly { readonly lease: Lease; readonly progress: Progress }[],
): Promise<void> {
  const rows = lost.map(({ lease: { subscriptionId, unfailedFrom, generation }, progress }) => {
    const { cursorLogId, lastEmittedLogId, windowUntil } = progress
    return [subscriptionId, cursorLogId, lastEmittedLogId, windowUntil, unfailedFrom, generation]
  })
  await follow.run(tx, rows)
}

function progressRow({ cursorLogId, lastEmittedLogId, failedInARow, windowUntil }: Progress): (number | null)[] {
  return [cursorLogId, lastEmittedLogId, failedInARow, windowUntil]
}

/** A lease that ends because nothing is left to send up to its cursor. */
export interface Release extends Advance {
  /** When the subscription falls due again, ms since the epoch; null: with its next event. */
  readonly dueAt: number | null
}

/**
 * Releases leases. Returns, by id, when each subscription falls due again (null: with its next event); those whose lease was
 * lost are missing.
 */
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
