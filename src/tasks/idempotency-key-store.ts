import type { Database, Reader, Transaction } from '../storage/database.ts'
import { limited, p, sql, statement } from '../storage/statement.ts'

/** How long a repeat is recognised: longer than any client retries. */
export const idempotencyMs = 24 * 60 * 60 * 1000
const pruneMax = 1_000

export interface IdempotencyKey {
  readonly callerId: string
  readonly agentId: string
  readonly key: string
  readonly fingerprint: string
  readonly taskId: string
}

const find = statement<
  { callerId: string; agentId: string; key: string },
  IdempotencyKey
>(sql`select caller_id as "callerId", agent_id as "agentId", key, fingerprint, task_id as "taskId" from idempotency_key
    where caller_id = ${p('callerId')} and agent_id = ${p('agentId')} and key = ${p('key')}`)
const insert = statement<IdempotencyKey & { now: number }>(
  sql`insert into idempotency_key (caller_id, agent_id, key, fingerprint, task_id, created_at)
    values (${p('callerId')}, ${p('agentId')}, ${p('key')}, ${p('fingerprint')}, ${p('taskId')}, ${p('now')})`,
)
const oldest = statement<object, { createdAt: number | null }>(
  sql`select min(created_at) as "createdAt" from idempotency_key`,
)
const prune = statement<{ before: number; limit: number }>(sql`delete from idempotency_key
  where (caller_id, agent_id, key) in (select caller_id, agent_id, key from idempotency_key
    where created_at < ${p('before')} order by created_at ${limited})`)

export function findIdempotencyKey(
  db: Reader,
  callerId: string,
  agentId: string,
  key: string,
): Promise<IdempotencyKey | undefined> {
  return db.get(find, { callerId, agentId, key })
}

export async function insertIdempotencyKey(tx: Transaction, key: IdempotencyKey): Promise<void> {
  await tx.run(insert, { ...key, now: tx.now })
}

/** Forgets the keys that are too old to be repeated, a batch for each commit. Answers how many went. */
export async function pruneIdempotencyKeys(db: Database, now: number): Promise<number> {
  const before = now - idempotencyMs
  let total = 0
  for (;;) {
    const createdAt = (await db.get(oldest, {}))?.createdAt
    if (createdAt === null || createdAt === undefined || createdAt >= before) return total
    total += await db.transaction((tx) => tx.run(prune, { before, limit: pruneMax }))
  }
}
