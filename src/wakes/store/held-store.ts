import type { LogEvent } from '../../log/event.ts'
import type { EventRow } from '../../log/event-row.ts'
import { eventColumns, eventFromRow } from '../../log/event-store.ts'
import type { Database, Reader, Transaction } from '../../storage/database.ts'
import { stepRows } from '../../storage/delete-in-batches.ts'
import { rowsInsert } from '../../storage/rows.ts'
import { lateFilter, limited, p, sql, statement } from '../../storage/statement.ts'
import type { PresenceState } from '../../words/presence.ts'
import type { Decision } from '../rules/policy.ts'

/** An event that was held: a subscription matched it, and it was decided not to wake. */
interface HeldWake {
  readonly event: LogEvent
  readonly action: Decision['action']
  readonly reason: Decision['reason']
  /** The harness's presence, where that decided. */
  readonly presence: PresenceState | null
}

interface HeldRow extends EventRow {
  action: Decision['action']
  reason: Decision['reason']
  presence: PresenceState | null
}

interface HeldRange {
  /** inclusive */
  readonly from: number
  /** exclusive */
  readonly before: number
  readonly limit: number
}

const insert = rowsInsert(
  'held_wake',
  'subscription_id, log_id, project_id, action, reason, presence, created_at',
  sql`on conflict (subscription_id, log_id) do nothing`,
)
const newestFirst = statement<
  HeldRange & { subscriptionId: string },
  HeldRow
>(sql`select ${eventColumns}, h.action, h.reason, h.presence
  from held_wake h join event e on e.project_id = h.project_id and e.log_id = h.log_id
  where h.subscription_id = ${p('subscriptionId')} and h.log_id >= ${p('from')} and h.log_id < ${p('before')}
    and ${lateFilter(sql`h.released = 0`)}
  order by h.log_id desc ${limited}`)
const within = statement<{ subscriptionId: string; after: number; upTo: number }, { logId: number }>(
  sql`select log_id as "logId" from held_wake
    where subscription_id = ${p('subscriptionId')} and log_id > ${p('after')} and log_id <= ${p('upTo')}
      and ${lateFilter(sql`released = 0`)}`,
)
const anyBefore = statement<{ before: number }, { one: number }>(
  sql`select 1 as "one" from held_wake where created_at < ${p('before')} limit 1`,
)
const removeAged = statement<{
  before: number
  limit: number
}>(sql`delete from held_wake where (subscription_id, log_id) in (
  select subscription_id, log_id from held_wake where created_at < ${p('before')} order by created_at ${limited})`)

/** That an event was held for a subscription, and why. */
export interface HoldRecord {
  readonly subscriptionId: string
  readonly event: Pick<LogEvent, 'projectId' | 'logId'>
  readonly decision: Decision
  /** The harness's presence, where that decided. */
  readonly presence: PresenceState | null
}

/** Records why events were held, all in one statement: an event may be held for hundreds of subscriptions. The first decision stands. */
export function insertHeld(tx: Transaction, held: readonly HoldRecord[]): Promise<void> {
  return insert.run(
    tx,
    held.map(({ subscriptionId, event: { projectId, logId }, decision: { action, reason }, presence }) => [
      subscriptionId,
      logId,
      projectId,
      action,
      reason,
      presence,
      tx.now,
    ]),
  )
}

/** Returns held events of a subscription, by logId, newest first. What was released since is not among them. */
export async function listHeld(db: Reader, subscriptionId: string, range: HeldRange): Promise<HeldWake[]> {
  return (await db.all(newestFirst, { subscriptionId, ...range })).map(({ action, reason, presence, ...row }) => ({
    event: eventFromRow(row),
    action,
    reason,
    presence,
  }))
}

/** Returns the logIds in `(after, upTo]` that are held. */
export async function heldWithin(
  db: Reader,
  subscriptionId: string,
  after: number,
  upTo: number,
): Promise<ReadonlySet<number>> {
  return new Set((await db.all(within, { subscriptionId, after, upTo })).map(({ logId }) => logId))
}

/** Removes what was held before an instant (ms since the epoch), as retention removes the events. Returns how many rows. */
export async function pruneHeld(db: Database, before: number, signal: AbortSignal): Promise<number> {
  let pruned = 0
  while (!signal.aborted && (await db.get(anyBefore, { before }))) {
    pruned += await db.transaction((tx) => tx.run(removeAged, { before, limit: stepRows }))
  }
  return pruned
}
