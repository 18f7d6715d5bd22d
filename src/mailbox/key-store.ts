import type { Database, Reader, Transaction } from '../storage/database.ts'
import { limited, p, sql, statement } from '../storage/statement.ts'

/** How long a repeat is recognised: longer than any client retries. */
export const keyMs = 24 * 60 * 60 * 1000
const pruneMax = 1_000

interface MessageKey {
  readonly callerId: string
  readonly key: string
  readonly fingerprint: string
  readonly messageId: string
}

const take = statement<
  MessageKey & { now: number }
>(sql`insert into message_key (caller_id, key, fingerprint, message_id, created_at)
  values (${p('callerId')}, ${p('key')}, ${p('fingerprint')}, ${p('messageId')}, ${p('now')}) on conflict (caller_id, key) do nothing`)
const find = statement<
  { callerId: string; key: string },
  MessageKey
>(sql`select caller_id as "callerId", key, fingerprint,
  message_id as "messageId" from message_key where caller_id = ${p('callerId')} and key = ${p('key')}`)
const oldest = statement<object, { createdAt: number | null }>(
  sql`select min(created_at) as "createdAt" from message_key`,
)
const prune = statement<{ before: number; limit: number }>(sql`delete from message_key where (caller_id, key) in (
  select caller_id, key from message_key where created_at < ${p('before')} order by created_at ${limited})`)

/** Takes a key for a message. False: it was taken before. */
export async function takeKey(tx: Transaction, key: MessageKey): Promise<boolean> {
  return (await tx.run(take, { ...key, now: tx.now })) > 0
}

export function findKey(db: Reader, callerId: string, key: string): Promise<MessageKey | undefined> {
  return db.get(find, { callerId, key })
}

/** Forgets the keys that are too old to be repeated, a batch for each commit. Answers how many went. */
export async function pruneKeys(db: Database, now: number, signal: AbortSignal): Promise<number> {
  const before = now - keyMs
  let total = 0
  while (!signal.aborted) {
    const createdAt = (await db.get(oldest, {}))?.createdAt
    if (createdAt === null || createdAt === undefined || createdAt >= before) break
    total += await db.transaction((tx) => tx.run(prune, { before, limit: pruneMax }))
  }
  return total
}
