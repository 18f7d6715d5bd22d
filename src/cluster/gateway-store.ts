import type { Database, Reader, Transaction } from '../storage/database.ts'
import { p, sql, statement } from '../storage/statement.ts'

/** After this long without a heartbeat the others take over. */
export const deadMs = 20_000

const seen = statement<{ id: string; now: number }>(sql`insert into gateway (id, started_at, seen_at)
  values (${p('id')}, ${p('now')}, ${p('now')}) on conflict (id) do update set seen_at = excluded.seen_at`)
const all = statement<object, { id: string; seenAt: number }>(
  sql`select id, seen_at as "seenAt" from gateway order by seen_at`,
)
const removeUnseen = statement<{ id: string; since: number }>(
  sql`delete from gateway where id = ${p('id')} and seen_at < ${p('since')}`,
)
const remove = statement<{ id: string }>(sql`delete from gateway where id = ${p('id')}`)

/** Records that a gateway is alive now. */
export function saveHeartbeat(db: Database, id: string): Promise<number> {
  return db.transaction((tx) => tx.run(seen, { id, now: tx.now }))
}

/** Returns every gateway of the store with the time of its last heartbeat, the oldest first. */
export function listGateways(db: Reader): Promise<{ readonly id: string; readonly seenAt: number }[]> {
  return db.all(all, {})
}

/** Returns the gateways that nobody takes for dead. */
export async function listLiveGateways(db: Reader, now: number): Promise<readonly { readonly id: string }[]> {
  return (await listGateways(db)).filter(({ seenAt }) => seenAt >= now - deadMs)
}

/** Removes a gateway that was not seen since an instant. False: it was seen, or another gateway has removed it. */
export async function removeDeadGateway(tx: Transaction, id: string, since: number): Promise<boolean> {
  return (await tx.run(removeUnseen, { id, since })) > 0
}

/** Removes a gateway that stops. */
export async function removeGateway(tx: Transaction, id: string): Promise<void> {
  await tx.run(remove, { id })
}
