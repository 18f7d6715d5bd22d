import type { Database, Reader, Transaction } from '../storage/database.ts'
import { limited, p, sql, statement } from '../storage/statement.ts'

interface Key {
  readonly callerId: string
  readonly scope: string
  readonly key: string
}

interface StoredResult {
  readonly fingerprint: string
  /** The id of what was made; of a call its answer. */
  readonly resultId: string
}

const pruneMax = 1_000

const find = statement<Key, StoredResult>(sql`select fingerprint, result_id as "resultId" from idempotency_key
  where caller_id = ${p('callerId')} and scope = ${p('scope')} and key = ${p('key')}`)
const insert = statement<
  Key & StoredResult & { now: number }
>(sql`insert into idempotency_key (caller_id, scope, key, fingerprint, result_id, created_at)
  values (${p('callerId')}, ${p('scope')}, ${p('key')}, ${p('fingerprint')}, ${p('resultId')}, ${p('now')})
  on conflict (caller_id, scope, key) do nothing`)
const end = statement<Key & Pick<StoredResult, 'resultId'>>(sql`update idempotency_key set result_id = ${p('resultId')}
  where caller_id = ${p('callerId')} and scope = ${p('scope')} and key = ${p('key')}`)
const remove = statement<Key>(sql`delete from idempotency_key
  where caller_id = ${p('callerId')} and scope = ${p('scope')} and key = ${p('key')} and result_id = ''`)
const removeBegun = statement<object>(sql`delete from idempotency_key where result_id = ''`)
const oldest = statement<object, { createdAt: number | null }>(
  sql`select min(created_at) as "createdAt" from idempotency_key`,
)
const removeOldest = statement<
  { before: number; limit: number },
  { callerId: string; bytes: number }
>(sql`delete from idempotency_key
  where (caller_id, scope, key) in (select caller_id, scope, key from idempotency_key
    where created_at < ${p('before')} order by created_at ${limited})
  returning caller_id as "callerId", case scope when 'call' then length(result_id) else 0 end as "bytes"`)

export function findResult(db: Reader, key: Key): Promise<StoredResult | undefined> {
  return db.get(find, key)
}

/** Returns false when the key is in use. */
export async function insertResult(tx: Transaction, row: Key & StoredResult): Promise<boolean> {
  return (await tx.run(insert, { ...row, now: tx.now })) > 0
}

/** Keeps the result of a request whose key is in use. */
export async function endResult(tx: Transaction, row: Key & Pick<StoredResult, 'resultId'>): Promise<void> {
  await tx.run(end, row)
}

/** Frees a key whose request has no result. */
export async function removeResult(tx: Transaction, key: Key): Promise<void> {
  await tx.run(remove, key)
}

/** Frees all keys whose requests have no result. */
export async function removeUnended(db: Database): Promise<void> {
  await db.transaction((tx) => tx.run(removeBegun, {}))
}

/**
 * Deletes the keys from before an instant, one batch in a transaction. Returns how many.
 * @param giveBack takes the bytes of answers off what their caller has stored
 */
export async function removeResults(
  db: Database,
  before: number,
  signal: AbortSignal,
  giveBack: (tx: Transaction, callerId: string, bytes: number) => Promise<void>,
): Promise<number> {
  let removed = 0
  while (!signal.aborted) {
    const createdAt = (await db.get(oldest, {}))?.createdAt
    if (createdAt === null || createdAt === undefined || createdAt >= before) break
    removed += await db.transaction(async (tx) => {
      const rows = await tx.all(removeOldest, { before, limit: pruneMax })
      const bytesOf = new Map<string, number>()
      for (const { callerId, bytes } of rows) bytesOf.set(callerId, (bytesOf.get(callerId) ?? 0) + bytes)
      // In one order, so that no two gateways wait for each other.
      for (const [callerId, bytes] of [...bytesOf].sort()) if (bytes > 0) await giveBack(tx, callerId, bytes)
      return rows.length
    })
  }
  return removed
}
