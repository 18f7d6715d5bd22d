import { newUlid } from '../../lib/ids.ts'
import { hashSecret, newApiKey } from '../../security/secret.ts'
import { int, type NounOf, named, nullable, type RowOf, text } from '../../storage/columns.ts'
import type { Reader, Transaction } from '../../storage/database.ts'
import { ListStatement } from '../../storage/list.ts'
import { RowTable } from '../../storage/row-table.ts'
import { limited, ownedBetween, p, readFirst, remembered, sql, statement } from '../../storage/statement.ts'
import { parseScopes, type Scope } from '../../words/callers.ts'
import type { WakePolicy } from '../../words/policies.ts'

const fields = {
  keyId: named('id', text),
  label: nullable(text),
  /** Separated by spaces. */
  scopes: text,
  /** null: it does not expire. */
  expiresAt: nullable(int),
  /** To the minute; null: not yet. */
  lastUsedAt: nullable(int),
  /** Its maker: `@donna` or `@operator`; null: not known. */
  createdBy: nullable(text),
  /** The key that made it. */
  createdByKey: nullable(text),
  createdAt: int,
  revokedAt: nullable(int),
}
type Row = RowOf<typeof fields>
/** The description of an API key, without the key itself. Instants are ms since the epoch. */
export type ApiKey = Omit<NounOf<typeof fields>, 'scopes'> & { readonly scopes: readonly Scope[] }

/** The description of a new key. */
type NewApiKey = Pick<ApiKey, 'label' | 'scopes' | 'expiresAt'> & {
  readonly createdBy: string
  readonly createdByKey: string
}

/** The agent that a key belongs to. */
interface KeyHolder extends Pick<Row, 'keyId' | 'scopes' | 'expiresAt'> {
  readonly agentId: string
  readonly handle: string
  readonly projectId: string
  readonly defaultWakePolicy: WakePolicy
  /** The limits of its project that differ from the defaults, as JSON. */
  readonly limits: string | null
}

/** A key that is not revoked. */
export type LiveKey = Pick<Row, 'keyId'> & { readonly agentId: string }
type KeyState = LiveKey & Pick<Row, 'revokedAt'>

const apiKeys = new RowTable('api_key', fields, { agentId: text, hash: text })
const insert = apiKeys.insert()
const holder = remembered(
  readFirst(
    statement<{ hash: string }, KeyHolder>(
      sql`select k.id as "keyId", a.id as "agentId", a.handle, a.project_id as "projectId", a.default_wake_policy as "defaultWakePolicy", k.scopes, k.expires_at as "expiresAt", p.limits
        from api_key k join agent a on a.id = k.agent_id join project p on p.id = a.project_id
        where k.hash = ${p('hash')} and k.revoked_at is null`,
    ),
  ),
)
const keysAfter = ownedBetween({ owner: 'agent_id', id: 'id' }, p('agentId'), { after: sql`${p('after')}` })
const byAgent = statement<{ agentId: string; after: string; limit: number }, Row>(
  sql`select ${apiKeys.columns}
    from api_key where ${keysAfter}
    order by agent_id, id ${limited}`,
)
const liveOfAgent = statement<{ agentId: string }, { count: number }>(
  sql`select count(*) as "count" from api_key where agent_id = ${p('agentId')} and revoked_at is null`,
)
const ofAgent = statement<{ id: string; agentId: string }, KeyState>(
  sql`select id as "keyId", agent_id as "agentId", revoked_at as "revokedAt" from api_key
    where id = ${p('id')} and agent_id = ${p('agentId')}`,
)
const madeBy = statement<{ keyId: string }, KeyState>(
  sql`select id as "keyId", agent_id as "agentId", revoked_at as "revokedAt" from api_key
    where created_by_key = ${p('keyId')} order by id /*postgres || '' */`,
)
const expired = statement<{ now: number; limit: number }, LiveKey>(
  sql`select id as "keyId", agent_id as "agentId" from api_key
    where expires_at <= ${p('now')} and expires_at is not null and revoked_at is null order by expires_at ${limited}`,
)
const revoke = statement<{ id: string; now: number }>(
  sql`update api_key set revoked_at = ${p('now')} where id = ${p('id')} and revoked_at is null`,
)
const use = new ListStatement<{ at: number }>(
  (ids) => sql`update api_key set last_used_at = ${p('at')} where id in (${ids})`,
)
const removeAll = statement<{ agentId: string }>(sql`delete from api_key where agent_id = ${p('agentId')}`)

/** Makes a key. Only this call returns it; the store has its hash. */
export async function createApiKey(
  tx: Transaction,
  agentId: string,
  key: NewApiKey,
): Promise<{ keyId: string; apiKey: string }> {
  const apiKey = newApiKey()
  const keyId = newUlid(tx.now)
  const scopes = key.scopes.join(' ')
  const made = { ...key, keyId, agentId, hash: hashSecret(apiKey), scopes, createdAt: tx.now }
  await tx.run(insert, { ...made, lastUsedAt: null, revokedAt: null })
  return { keyId, apiKey }
}

/** Returns false when the key was revoked before. */
export async function revokeApiKey(tx: Transaction, keyId: string): Promise<boolean> {
  return (await tx.run(revoke, { id: keyId, now: tx.now })) > 0
}

export async function deleteApiKeys(tx: Transaction, agentId: string): Promise<void> {
  await tx.run(removeAll, { agentId })
}

export function findKeyHolder(db: Reader, hash: string): Promise<KeyHolder | undefined> {
  return db.get(holder, { hash })
}

export function findKey(db: Reader, agentId: string, keyId: string): Promise<KeyState | undefined> {
  return db.get(ofAgent, { id: keyId, agentId })
}

/** Lists the keys that a key made, revoked ones too, because keys that those made may be live. */
export function listKeysMadeBy(db: Reader, keyId: string): Promise<KeyState[]> {
  return db.all(madeBy, { keyId })
}

/** Lists the expired keys that are not revoked, earliest expiry first. */
export function listExpiredKeys(db: Reader, now: number, limit: number): Promise<LiveKey[]> {
  return db.all(expired, { now, limit })
}

/** Records the last use of keys. Ids of other kinds are ignored. */
export function noteKeyUse(tx: Transaction, keyIds: readonly string[], at: number): Promise<void> {
  return use.run(tx, { at }, keyIds)
}

const lastUses = new ListStatement<object, { agentId: string; at: number }>(
  (ids) => sql`select agent_id as "agentId", max(last_used_at) as "at" from api_key
    where agent_id in (${ids}) and last_used_at is not null group by agent_id`,
)

/** Reads when any key of each agent was last used, to the minute, ms since the epoch. Agents that never used one are missing. */
export async function findLastUses(db: Reader, agentIds: readonly string[]): Promise<Map<string, number>> {
  const rows = await lastUses.all(db, {}, agentIds)
  return new Map(rows.map(({ agentId, at }) => [agentId, at]))
}

/** Lists the keys of an agent after a key, in the order of their creation. */
export async function listApiKeys(db: Reader, agentId: string, after: string, limit: number): Promise<ApiKey[]> {
  const rows = await db.all(byAgent, { agentId, after, limit })
  return rows.map((row) => ({ ...row, scopes: parseScopes(row.scopes) }))
}

/** Counts the keys of an agent that are not revoked. */
export async function countApiKeys(db: Reader, agentId: string): Promise<number> {
  return (await db.get(liveOfAgent, { agentId }))?.count ?? 0
}

const liveAmong = new ListStatement<object, { id: string }>(
  (ids) => sql`select id from api_key where id in (${ids}) and revoked_at is null`,
)

/** Filters to the ids of keys that are not revoked, in no order. The keys of a removed agent are deleted with it. */
export async function findLiveKeys(db: Reader, ids: readonly string[]): Promise<string[]> {
  return (await liveAmong.all(db, {}, ids)).map(({ id }) => id)
}
