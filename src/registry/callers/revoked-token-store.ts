import type { Database, Reader, Transaction } from '../../storage/database.ts'
import { ListStatement } from '../../storage/list.ts'
import { limited, p, sql, statement } from '../../storage/statement.ts'

const insert = statement<{ id: string; expiresAt: number }>(
  sql`insert into revoked_token (id, expires_at) values (${p('id')}, ${p('expiresAt')}) on conflict (id) do nothing`,
)
const byId = statement<{ id: string }, { id: string }>(sql`select id from revoked_token where id = ${p('id')}`)
const amongIds = new ListStatement<object, { id: string }>(
  (ids) => sql`select id from revoked_token where id in (${ids})`,
)
const anyExpired = statement<{ now: number }, { one: number }>(
  sql`select 1 as "one" from revoked_token where expires_at <= ${p('now')} limit 1`,
)
const removeExpired = statement<{ now: number; limit: number }>(sql`delete from revoked_token where id in (
  select id from revoked_token where expires_at <= ${p('now')} order by expires_at ${limited})`)

/** Refuses a token until it expires. `id`: the key id of its caller. Returns false when the token was revoked before. */
export async function revokeToken(tx: Transaction, id: string, expiresAt: number): Promise<boolean> {
  return (await tx.run(insert, { id, expiresAt })) > 0
}

export async function isTokenRevoked(db: Reader, id: string): Promise<boolean> {
  return (await db.get(byId, { id })) !== undefined
}

/** Returns those of the tokens that were revoked. */
export async function findRevokedTokens(db: Reader, ids: readonly string[]): Promise<string[]> {
  return (await amongIds.all(db, {}, ids)).map(({ id }) => id)
}

/** Deletes expired tokens, which are refused anyway. */
export async function removeExpiredTokens(db: Database, now: number, limit: number): Promise<void> {
  if (await db.get(anyExpired, { now })) await db.transaction((tx) => tx.run(removeExpired, { now, limit }))
}
