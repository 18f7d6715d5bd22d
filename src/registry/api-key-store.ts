import { Problem } from '../errors.ts'
import { newUlid } from '../lib/ids.ts'
import { hashSecret, newApiKey } from '../security/secret.ts'
import type { Reader, Transaction } from '../storage/database.ts'
import { p, sql, statement } from '../storage/statement.ts'

/** A key as its agent's owner sees it: never the key itself. */
export interface ApiKey {
  readonly keyId: string
  readonly label: string | null
  readonly createdAt: number
  readonly revokedAt: number | null
}

const insert = statement<{ id: string; agentId: string; hash: string; label: string | null; now: number }>(
  sql`insert into api_key (id, agent_id, hash, label, created_at) values (${p('id')}, ${p('agentId')}, ${p('hash')}, ${p('label')}, ${p('now')})`,
)
const holder = statement<{ hash: string }, { agentId: string; handle: string; projectId: string }>(
  sql`select a.id as "agentId", a.handle, a.project_id as "projectId" from api_key k join agent a on a.id = k.agent_id
    where k.hash = ${p('hash')} and k.revoked_at is null`,
)
const byAgent = statement<{ agentId: string }, ApiKey>(
  sql`select id as "keyId", label, created_at as "createdAt", revoked_at as "revokedAt" from api_key
    where agent_id = ${p('agentId')} order by created_at, id`,
)
const revoke = statement<{ id: string; agentId: string; now: number }>(
  sql`update api_key set revoked_at = ${p('now')} where id = ${p('id')} and agent_id = ${p('agentId')} and revoked_at is null`,
)
const removeAll = statement<{ agentId: string }>(sql`delete from api_key where agent_id = ${p('agentId')}`)

/** Makes a key. It is told once, here; the store keeps its hash. */
export async function createApiKey(
  tx: Transaction,
  agentId: string,
  label: string | null,
): Promise<{ keyId: string; apiKey: string }> {
  const apiKey = newApiKey()
  const keyId = newUlid(tx.now)
  await tx.run(insert, { id: keyId, agentId, hash: hashSecret(apiKey), label, now: tx.now })
  return { keyId, apiKey }
}

export async function revokeApiKey(tx: Transaction, agentId: string, keyId: string): Promise<void> {
  const changed = await tx.run(revoke, { id: keyId, agentId, now: tx.now })
  if (changed === 0) throw new Problem('key-not-found', { detail: `No live key "${keyId}" on this agent.` })
}

export async function deleteApiKeys(tx: Transaction, agentId: string): Promise<void> {
  await tx.run(removeAll, { agentId })
}

export function findKeyHolder(
  db: Reader,
  hash: string,
): Promise<{ agentId: string; handle: string; projectId: string } | undefined> {
  return db.get(holder, { hash })
}

export function listApiKeys(db: Reader, agentId: string): Promise<ApiKey[]> {
  return db.all(byAgent, { agentId })
}
