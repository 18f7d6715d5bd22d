import { Problem } from '../../errors.ts'
import type { Reader } from '../../storage/database.ts'
import { ListStatement } from '../../storage/list.ts'
import { limited, p, sql, statement } from '../../storage/statement.ts'
import type { Caller } from './caller.ts'
import { isTokenRevoked, listRevokedTokens } from './revoked-token-store.ts'

const liveKey = statement<{ id: string }, { id: string }>(
  sql`select id from api_key where id = ${p('id')} and revoked_at is null`,
)
const liveOperatorKey = statement<{ id: string }, { id: string }>(
  sql`select id from operator_key where id = ${p('id')} and revoked_at is null`,
)
const revokedKeys = statement<{ since: number; limit: number }, { keyId: string }>(
  sql`select id as "keyId" from api_key where revoked_at >= ${p('since')} and revoked_at is not null
    order by revoked_at desc ${limited}`,
)
const revokedOperatorKeys = statement<{ since: number; limit: number }, { keyId: string }>(
  sql`select id as "keyId" from operator_key where revoked_at >= ${p('since')} and revoked_at is not null
    order by revoked_at desc ${limited}`,
)
const withSubscriptions = new ListStatement<object, { keyId: string }>(
  (ids) => sql`select distinct key_id as "keyId" from subscription
    where key_id in (${ids}) and key_id is not null and (kind = 'push' or status <> 'paused')`,
)
const withSessions = new ListStatement<object, { keyId: string }>(
  (ids) => sql`select key_id as "keyId" from session where key_id in (${ids}) and ended_at is null`,
)

/**
 * Refuses to store something that outlives the request when its key was revoked since the request began: a body may take minutes
 * to arrive. Call it in the transaction that writes. Errors: `unauthenticated`.
 */
export async function requireLiveKey(tx: Reader, caller: Caller): Promise<void> {
  if (await isLive(tx, caller)) return
  throw new Problem('unauthenticated', {
    detail: 'The key was revoked or expired while the request was in progress.',
  })
}

async function isLive(db: Reader, { kind, keyId: id }: Caller): Promise<boolean> {
  if (id === 'admin') return true
  if (id.startsWith('jwt:')) return !(await isTokenRevoked(db, id))
  return (await db.get(kind === 'operator' ? liveOperatorKey : liveKey, { id })) !== undefined
}

/**
 * Lists the keys and tokens that were revoked since an instant and still have a session or subscription, which a concurrent transaction
 * wrote before it could see the revocation.
 */
export async function listRevokedKeysInUse(db: Reader, since: number, limit: number): Promise<string[]> {
  const revoked = [
    ...(await db.all(revokedKeys, { since, limit })),
    ...(await db.all(revokedOperatorKeys, { since, limit })),
  ]
  const ids = [...revoked.map(({ keyId }) => keyId), ...(await listRevokedTokens(db, since, limit))]
  const found = [...(await withSubscriptions.all(db, {}, ids)), ...(await withSessions.all(db, {}, ids))]
  return [...new Set(found.map(({ keyId }) => keyId))]
}
