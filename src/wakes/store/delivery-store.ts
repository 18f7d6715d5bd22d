import { readBoundedPage } from '../../lib/bounded-page.ts'
import { ulidFloor } from '../../lib/ids.ts'
import { sizeLimits } from '../../limits.ts'
import { int, json, type NounOf, nullable, type RowOf, text, word } from '../../storage/columns.ts'
import type { Database, Reader, Transaction } from '../../storage/database.ts'
import { deleteInBatches } from '../../storage/delete-in-batches.ts'
import { RowTable } from '../../storage/row-table.ts'
import { RowsStatement } from '../../storage/rows.ts'
import { limited, p, type SqlValue, sql, statement } from '../../storage/statement.ts'
import type { ReceiptStep } from '../../words/receipts.ts'
import type { Attempt } from '../channel.ts'
import type { Emission } from '../content/emission.ts'
import { noHistory, type WakeHistory, type WakeStep } from '../rules/wake-history.ts'

export type DeliveryOutcome = 'pending' | Arrival | 'failed' | 'rejected'
/** How an emission left the gateway: its receiver took it, or it was written to a connection and no more is known. Source: D14. */
export type Arrival = 'delivered' | 'written'

const fields = {
  eventId: text,
  eventType: text,
  fromLogId: int,
  toLogId: int,
  eventCount: int,
  attempts: json<readonly Attempt[]>(),
  outcome: word<DeliveryOutcome>(),
  nextAttemptAt: nullable(int),
  /** The highest step that the receiver has reported; null: none. */
  step: nullable(word<ReceiptStep>()),
  history: nullable(json<WakeHistory>()),
  createdAt: int,
  updatedAt: int,
}
/** The record of an emission: its attempts and their outcome. */
export interface Delivery extends Omit<NounOf<typeof fields>, 'history'> {
  /** The steps that the receiver has reported, the oldest first. */
  readonly steps: readonly WakeStep[]
}
type DeliveryRow = RowOf<typeof fields>

const deliveries = new RowTable('delivery', fields)
const { columns } = deliveries
// Columns in the order of the table. Not for a subscription that was removed meanwhile. What a receipt has decided is not open again.
const upsert = new RowsStatement(
  'text text text bigint bigint bigint text text bigint bigint',
  (
    rows,
  ) => sql`insert into delivery (subscription_id, event_id, event_type, from_log_id, to_log_id, event_count, attempts, outcome,
    next_attempt_at, created_at, updated_at)
  select column1, column2, column3, column4, column5, column6, column7, column8, column9, column10, column10
  from (values ${rows}) v where exists (select 1 from subscription where id = column1)
  on conflict (subscription_id, event_id) do update set attempts = excluded.attempts, outcome = excluded.outcome,
    next_attempt_at = excluded.next_attempt_at, updated_at = excluded.updated_at,
    emission = case when excluded.outcome = 'pending' then delivery.emission end
  where excluded.outcome <> 'pending' or delivery.outcome = 'pending'`,
)
const find = statement<{ subscriptionId: string; eventId: string }, DeliveryRow>(
  sql`select ${columns} from delivery where subscription_id = ${p('subscriptionId')} and event_id = ${p('eventId')}`,
)
const newestFirst = statement<
  { subscriptionId: string; before: string; limit: number },
  DeliveryRow
>(sql`select ${columns} from delivery
  where subscription_id = ${p('subscriptionId')} and event_id < ${p('before')} order by event_id desc ${limited}`)
const oldestFirst = statement<
  { subscriptionId: string; from: string; limit: number },
  DeliveryRow
>(sql`select ${columns} from delivery
  where subscription_id = ${p('subscriptionId')} and event_id >= ${p('from')} order by event_id ${limited}`)
// A record that is open for longer is obsolete: its emission was made again, with another id. A kept one will be sent.
const isOver = sql`(outcome <> 'pending' or emission is null and coalesce(next_attempt_at, 0) < ${p('beforeMs')})`
const agedPage = statement<
  { after: string; before: string; beforeMs: number; limit: number },
  { id: string; aged: number }
>(sql`select id, exists (select 1 from delivery where subscription_id = subscription.id and event_id < ${p('before')}
    and ${isOver}) as "aged"
  from subscription where id > ${p('after')} order by id ${limited}`)
const removeAged = statement<{
  subscriptionId: string
  before: string
  beforeMs: number
  limit: number
}>(sql`delete from delivery
  where subscription_id = ${p('subscriptionId')} and ${isOver} and event_id <= (select max(event_id) from (
    select event_id from delivery
    where subscription_id = ${p('subscriptionId')} and event_id < ${p('before')} and ${isOver}
    order by event_id ${limited}) page)`)

/** An emission that was sent, and its attempts. */
interface SentEmission {
  readonly subscriptionId: string
  readonly emission: Emission
  readonly attempts: readonly Attempt[]
}

/** Saves a delivery as it stands. `nextAttemptAt`: while it is pending, ms since the epoch. */
export async function saveDelivery(
  tx: Transaction,
  sent: SentEmission,
  outcome: DeliveryOutcome,
  nextAttemptAt: number | null = null,
): Promise<void> {
  await upsert.run(tx, [toRow(sent, outcome, nextAttemptAt, tx.now)])
}

/** Records emissions that have arrived. If two leases have sent the same emission, the later record replaces the earlier one. */
export async function saveArrived(
  tx: Transaction,
  sent: readonly (SentEmission & { readonly outcome: Arrival })[],
): Promise<void> {
  const rows = new Map<string, SqlValue[]>()
  for (const one of sent) {
    rows.set(`${one.subscriptionId} ${one.emission.eventId}`, toRow(one, one.outcome, null, tx.now))
  }
  await upsert.run(tx, [...rows.values()])
}

function toRow(
  { subscriptionId, emission, attempts }: SentEmission,
  outcome: DeliveryOutcome,
  nextAttemptAt: number | null,
  now: number,
): SqlValue[] {
  const { eventId, eventType, fromLogId, logId, eventCount } = emission
  const tries = JSON.stringify(attempts)
  return [subscriptionId, eventId, eventType, fromLogId, logId, eventCount, tries, outcome, nextAttemptAt, now]
}

/** Returns the record of an emission: after a crash it has the attempts that were already made. */
export async function findDelivery(db: Reader, subscriptionId: string, eventId: string): Promise<Delivery | undefined> {
  const row = await db.get(find, { subscriptionId, eventId })
  return row && fromRow(row)
}

/** Returns a subscription's deliveries before an event id (`''`: all), newest first. */
export async function listDeliveries(
  db: Reader,
  subscriptionId: string,
  before: string,
  limit: number,
): Promise<Delivery[]> {
  // 'Z' sorts after every ULID's first digit.
  return (await db.all(newestFirst, { subscriptionId, before: before || 'Z', limit })).map(fromRow)
}

/** Returns a subscription's deliveries of events from an instant on (ms since the epoch), the oldest first. */
export async function listDeliveriesSince(
  db: Reader,
  subscriptionId: string,
  sinceMs: number,
  limit: number,
): Promise<Delivery[]> {
  return (await db.all(oldestFirst, { subscriptionId, from: ulidFloor(sinceMs), limit })).map(fromRow)
}

/** A page of deliveries. `size`: of what was read, in characters. */
interface DeliveryPage {
  readonly items: readonly Delivery[]
  readonly more: boolean
  readonly size: number
}

/** Reads a page of a subscription's deliveries before an event id (`''`: from the newest), newest first. Large ones make it shorter. */
export async function readDeliveryPage(
  db: Reader,
  subscriptionId: string,
  before: string,
  limit: number,
): Promise<DeliveryPage> {
  const read = (last: DeliveryRow | undefined, count: number) =>
    db.all(newestFirst, { subscriptionId, before: last?.eventId ?? (before || 'Z'), limit: count })
  const bounds = { limit, sizeMax: sizeLimits.page.max, sizeOf: sizeOfRow }
  const { items, ...page } = await readBoundedPage(read, bounds)
  return { items: items.map(fromRow), ...page }
}

const sizeOfRow = ({ attempts, history }: DeliveryRow): number => attempts.length + (history?.length ?? 0)

const pageMax = 100

/** Removes the deliveries from before an instant (ms since the epoch), but none that is still tried. Returns how many. */
export async function pruneDeliveries(db: Database, beforeMs: number, signal: AbortSignal): Promise<number> {
  const before = ulidFloor(beforeMs)
  const remove = (tx: Transaction, subscriptionId: string, limit: number) =>
    tx.run(removeAged, { subscriptionId, before, beforeMs, limit })
  let pruned = 0
  for (let after = ''; !signal.aborted; ) {
    const page = await db.all(agedPage, { after, before, beforeMs, limit: pageMax })
    const aged = page.filter((subscription) => subscription.aged === 1).map(({ id }) => id)
    pruned += await deleteInBatches(db, aged, remove, signal)
    const last = page.at(-1)
    if (!last || page.length < pageMax) break
    after = last.id
    await new Promise(setImmediate)
  }
  return pruned
}

function fromRow(row: DeliveryRow): Delivery {
  const { history, ...delivery } = deliveries.fromRow(row)
  return { steps: (history ?? noHistory).steps, ...delivery }
}
