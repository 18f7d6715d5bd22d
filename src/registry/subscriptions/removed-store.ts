import type { Database, Reader, Transaction } from '../../storage/database.ts'
import { deleteInBatches } from '../../storage/delete-in-batches.ts'
import { ListStatement } from '../../storage/list.ts'
import { RowsStatement } from '../../storage/rows.ts'
import { limited, p, sql, statement } from '../../storage/statement.ts'
import type { Subscription } from './subscription.ts'

interface Part {
  readonly id: string
  readonly limit: number
}

const note = new RowsStatement(
  'text bigint',
  (rows) => sql`insert into removed_subscription (id, removed_at) values ${rows} on conflict (id) do nothing`,
)
const removedBefore = statement<{ before: number; limit: number }, { id: string }>(
  sql`select id from removed_subscription where removed_at < ${p('before')} order by removed_at ${limited}`,
)
const forget = new ListStatement((ids) => sql`delete from removed_subscription where id in (${ids})`)
/** The rows that go with a subscription, one statement for each table: up to the last row of a step, which is one search of an index. */
const parts = [
  statement<Part>(sql`delete from replay where subscription_id = ${p('id')} and log_id <= (select max(log_id) from (
    select log_id from replay where subscription_id = ${p('id')} order by log_id ${limited}) step)`),
  statement<Part>(sql`delete from held_wake where subscription_id = ${p('id')} and log_id <= (select max(log_id) from (
    select log_id from held_wake where subscription_id = ${p('id')} order by log_id ${limited}) step)`),
  statement<Part>(sql`delete from delivery where subscription_id = ${p('id')} and event_id <= (select max(event_id) from (
    select event_id from delivery where subscription_id = ${p('id')} order by event_id ${limited}) step)`),
]
const pageMax = 100

/** The last message to the client of a subscription that the gateway has ended, until it is sent. */
export interface Farewell {
  readonly id: string
  readonly projectId: string
  readonly agentId: string
  readonly url: string
  readonly mcpId: string
  /** Sealed for the subscription. */
  readonly signingKey: string
  /** Why it has ended, in a word. */
  readonly reason: string
}

const noteFarewells = new RowsStatement(
  'text bigint text',
  (rows) => sql`insert into removed_subscription (id, removed_at, farewell) values ${rows} on conflict (id) do nothing`,
)
const farewells = statement<{ limit: number }, { farewell: string }>(
  sql`select farewell from removed_subscription where farewell is not null and removed_at > 0 order by removed_at ${limited}`,
)
const said = new ListStatement((ids) => sql`update removed_subscription set farewell = null where id in (${ids})`)

/** Has the clients of those of the subscriptions that are for clients of MCP notified that they have ended. Call it in the transaction that removes them. */
export async function noteEnded(tx: Transaction, ended: readonly Subscription[], reason: string): Promise<void> {
  const rows = ended.flatMap((one) => {
    if (one.kind === 'push' || one.mcpId === null || one.signingKey === null || !one.target.url) return []
    const { id, projectId, agentId, mcpId, signingKey, target } = one
    const farewell: Farewell = { id, projectId, agentId, url: target.url!, mcpId, signingKey, reason }
    return [[id, tx.now, JSON.stringify(farewell)]]
  })
  await noteFarewells.run(tx, rows)
}

/** Returns messages that are to be sent, the oldest first. */
export async function listFarewells(db: Reader, limit: number): Promise<Farewell[]> {
  return (await db.all(farewells, { limit })).map(({ farewell }) => JSON.parse(farewell) as Farewell)
}

/** Forgets messages: they are sent, or are not tried any more. */
export async function forgetFarewells(db: Database, ids: readonly string[]): Promise<void> {
  await db.transaction((tx) => said.run(tx, {}, ids))
}

/** Notes subscriptions that this transaction removes: `clearRemoved` deletes what they leave. */
export async function noteRemoved(tx: Transaction, ids: readonly string[]): Promise<void> {
  await note.run(
    tx,
    [...new Set(ids)].map((id) => [id, tx.now]),
  )
}

/**
 * Deletes the deliveries, replays and held events of the subscriptions that were removed before an instant (ms since the epoch), each
 * step in a transaction of its own. What a stop leaves, the next call deletes. Returns how many rows.
 */
export async function clearRemoved(db: Database, before: number, signal: AbortSignal): Promise<number> {
  let cleared = 0
  while (!signal.aborted) {
    const ids = (await db.all(removedBefore, { before, limit: pageMax })).map(({ id }) => id)
    if (ids.length === 0) break
    for (const part of parts) {
      const remove = (tx: Transaction, id: string, limit: number) => tx.run(part, { id, limit })
      cleared += await deleteInBatches(db, ids, remove, signal)
    }
    // An abort may have left some.
    if (!signal.aborted) await db.transaction((tx) => forget.run(tx, {}, ids))
  }
  return cleared
}
