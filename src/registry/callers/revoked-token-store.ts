import type { Database, Reader, Transaction } from '../../storage/database.ts'
import { ListStatement } from '../../storage/list.ts'
import { limited, p, sql, statement } from '../../storage/statement.ts'

/**
 * How long a revocation is kept at least. A key id may stand for a login, and its issuer makes new tokens as long as that lasts: rarely
 * longer than a year. A kept revocation takes some hundred bytes.
 */
const keptMs = 366 * 86_400_000

interface Revocation {
  readonly id: string
  readonly expiresAt: number
}

const insert = statement<Revocation>(
  sql`insert into revoked_token (id, expires_at) values (${p('id')}, ${p('expiresAt')}) on conflict (id) do nothing`,
)
const extend = statement<Revocation>(
  sql`insert into revoked_token (id, expires_at) values (${p('id')}, ${p('expiresAt')})
    on conflict (id) do update set expires_at = excluded.expires_at where excluded.expires_at > revoked_token.expires_at`,
)
const byId = statement<{ id: string }, { id: string }>(sql`select id from revoked_token where id = ${p('id')}`)
const amongIds = new ListStatement<object, { id: string }>(
  (ids) => sql`select id from revoked_token where id in (${ids})`,
)
const newest = statement<{ from: number; limit: number }, { id: string }>(
  sql`select id from revoked_token where expires_at >= ${p('from')} order by expires_at desc ${limited}`,
)
const anyExpired = statement<{ now: number }, { one: number }>(
  sql`select 1 as "one" from revoked_token where expires_at <= ${p('now')} limit 1`,
)
// The end is compared again outside: PostgreSQL does not repeat the inner query for a row that was extended meanwhile.
const removeExpired = statement<{ now: number; limit: number }>(sql`delete from revoked_token where id in (
  select id from revoked_token where expires_at <= ${p('now')} order by expires_at ${limited})
  and expires_at <= ${p('now')}`)

/**
 * Refuses the tokens of a key id: for `keptMs`, and until the named one expires. `id`: the key id of their caller. Returns false when they
 * were refused before; then the later end counts.
 */
export async function revokeToken(tx: Transaction, id: string, expiresAt = 0): Promise<boolean> {
  const revocation = { id, expiresAt: Math.max(Math.ceil(expiresAt), tx.now + keptMs) }
  if ((await tx.run(insert, revocation)) > 0) return true
  // This also adds the row, should a sweep have deleted it since.
  await tx.run(extend, revocation)
  return false
}

export async function isTokenRevoked(db: Reader, id: string): Promise<boolean> {
  return (await db.get(byId, { id })) !== undefined
}

/** Returns those of the tokens that were revoked. */
export async function findRevokedTokens(db: Reader, ids: readonly string[]): Promise<string[]> {
  return (await amongIds.all(db, {}, ids)).map(({ id }) => id)
}

/** Lists the key ids that were revoked since an instant. Those of long-lived tokens that were revoked before may be among them. */
export async function listRevokedTokens(db: Reader, since: number, limit: number): Promise<string[]> {
  return (await db.all(newest, { from: since + keptMs, limit })).map(({ id }) => id)
}

/** Deletes revocations whose end has come. */
export async function removeExpiredTokens(db: Database, now: number, limit: number): Promise<void> {
  if (await db.get(anyExpired, { now })) await db.transaction((tx) => tx.run(removeExpired, { now, limit }))
}
