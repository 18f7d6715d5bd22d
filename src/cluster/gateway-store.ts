import type { Database, Reader, Transaction } from '../storage/database.ts'
import { p, sql, statement } from '../storage/statement.ts'

const seen = statement<{ id: string; now: number }>(sql`insert into gateway (id, started_at, seen_at)
  values (${p('id')}, ${p('now')}, ${p('now')}) on conflict (id) do update set seen_at = excluded.seen_at`)
const all = statement<object, { id: string; seenAt: number }>(
  sql`select id, seen_at as "seenAt" from gateway order by seen_at`,
)
const removeDead = statement<{ id: string; since: number }>(
  sql`delete from gateway where id = ${p('id')} and seen_at < ${p('since')}`,
)
const remove = statement<{ id: string }>(sql`delete from gateway where id = ${p('id')}`)
// A claim's name is `<gateway>.<number>`; '/' is the character behind '.'.
const releaseLeases = statement<{ from: string; to: string; now: number }>(sql`update subscription
  set lease_owner = null, due_at = ${p('now')}
  where due_at is not null and lease_owner > ${p('from')} and lease_owner < ${p('to')}`)

/** Says that a gateway is alive. */
export function saveHeartbeat(db: Database, id: string): Promise<number> {
  return db.transaction((tx) => tx.run(seen, { id, now: tx.now }))
}

/** Every gateway of the store, with the time at which it was last seen. */
export function listGateways(db: Reader): Promise<{ readonly id: string; readonly seenAt: number }[]> {
  return db.all(all, {})
}

/**
 * Frees what a gateway had claimed, unless it was seen meanwhile or another gateway did this first. Answers how many
 * subscriptions fell due. Should it only have been held up, its records find the leases gone, and it sends no more.
 */
export function takeOver(db: Database, id: string, since: number): Promise<number> {
  return db.transaction(async (tx) => ((await tx.run(removeDead, { id, since })) > 0 ? releaseLeasesOf(tx, id) : 0))
}

/** A gateway that stops in good order leaves nothing behind. */
export function removeGateway(db: Database, id: string): Promise<void> {
  return db.transaction(async (tx) => {
    await tx.run(remove, { id })
    await releaseLeasesOf(tx, id)
  })
}

function releaseLeasesOf(tx: Transaction, id: string): Promise<number> {
  return tx.run(releaseLeases, { from: `${id}.`, to: `${id}/`, now: tx.now })
}
