import type { Clock } from '../lib/clock.ts'
import type { Database, Reader, Transaction } from '../storage/database.ts'
import { p, sql, statement } from '../storage/statement.ts'

/** After this long without a heartbeat, by the clock of the store, the others take over. */
export const deadMs = 20_000

// The time of a PostgreSQL store is that of its own clock: gateways whose clocks differ see the same times.
const storeTime = sql`coalesce(${p('storeNow')}, /*postgres cast(extract(epoch from clock_timestamp()) * 1000 as bigint), */ ${p('now')})`
const seen = statement<{ id: string; now: number; storeNow: number | null }, { seenAt: number }>(
  sql`insert into gateway (id, started_at, seen_at) select ${p('id')}, t.at, t.at from (select ${storeTime} as at) t
    where true on conflict (id) do update set seen_at = excluded.seen_at returning seen_at as "seenAt"`,
)
const time = statement<{ storeNow: null; now: number }, { at: number }>(sql`select ${storeTime} as "at"`)
const all = statement<object, { id: string; seenAt: number }>(
  sql`select id, seen_at as "seenAt" from gateway order by seen_at`,
)
const removeUnseen = statement<{ id: string; since: number }>(
  sql`delete from gateway where id = ${p('id')} and seen_at < ${p('since')}`,
)
const remove = statement<{ id: string }>(sql`delete from gateway where id = ${p('id')}`)

/** A heartbeat. `seenAt`: when it was written, by the clock of the store. `offsetMs`: the time of the gateway minus that of the store, in ms. */
interface Heartbeat {
  readonly seenAt: number
  readonly offsetMs: number
}

/**
 * Records that a gateway is alive now. A difference of the clocks that the time until the answer may explain is none.
 * @param storeClock instead of the store's own clock
 */
export function saveHeartbeat(db: Database, id: string, clock: Clock, storeClock?: Clock): Promise<Heartbeat> {
  return db.transaction(async (tx) => {
    const asked = clock.now()
    const row = await tx.get(seen, { id, now: tx.now, storeNow: storeClock?.now() ?? null })
    const { seenAt } = row!
    return { seenAt, offsetMs: Math.max(0, asked - seenAt) || Math.min(0, clock.now() - seenAt) }
  })
}

/** Returns every gateway of the store with the time of its last heartbeat, the oldest first. */
export function listGateways(db: Reader): Promise<{ readonly id: string; readonly seenAt: number }[]> {
  return db.all(all, {})
}

/**
 * Returns the gateways that nobody takes for dead.
 * @param now of this machine, whose clock may be wrong: the earlier one counts, of it and that of the store
 */
export async function listLiveGateways(db: Reader, now: number): Promise<readonly { readonly id: string }[]> {
  const { at } = (await db.get(time, { storeNow: null, now }))!
  return (await listGateways(db)).filter(({ seenAt }) => seenAt >= Math.min(now, at) - deadMs)
}

/** Removes a gateway that was not seen since an instant. False: it was seen, or another gateway has removed it. */
export async function removeDeadGateway(tx: Transaction, id: string, since: number): Promise<boolean> {
  return (await tx.run(removeUnseen, { id, since })) > 0
}

/** Removes a gateway that stops. */
export async function removeGateway(tx: Transaction, id: string): Promise<void> {
  await tx.run(remove, { id })
}
