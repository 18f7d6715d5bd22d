import type { Database, Reader, Transaction } from '../../storage/database.ts'
import { limited, p, sql, statement } from '../../storage/statement.ts'

/** A code of a link that signs a person in. The code itself is not stored. */
interface StoredCode {
  /** The hash of the code. */
  readonly id: string
  /** The bearer key, encrypted. */
  readonly sealedKey: string
  /** ms since the epoch. */
  readonly expiresAt: number
}

const insert = statement<StoredCode>(sql`insert into sign_in_code (id, sealed_key, expires_at)
  values (${p('id')}, ${p('sealedKey')}, ${p('expiresAt')})`)
const known = statement<{ id: string }, { id: string }>(sql`select id from sign_in_code where id = ${p('id')}`)
const take = statement<{ id: string }, Omit<StoredCode, 'id'>>(
  sql`delete from sign_in_code where id = ${p('id')} returning sealed_key as "sealedKey", expires_at as "expiresAt"`,
)
const anyExpired = statement<{ now: number }, { one: number }>(
  sql`select 1 as "one" from sign_in_code where expires_at <= ${p('now')} limit 1`,
)
const removeExpired = statement<{ now: number; limit: number }>(sql`delete from sign_in_code where id in (
  select id from sign_in_code where expires_at <= ${p('now')} order by expires_at ${limited})`)

const removedAtOnce = 1_000

export async function insertSignInCode(tx: Transaction, code: StoredCode): Promise<void> {
  await tx.run(insert, code)
}

/** True when a code is stored. Guesses are refused by this, without a write. */
export async function isSignInCode(db: Reader, id: string): Promise<boolean> {
  return (await db.get(known, { id })) !== undefined
}

/** Removes a code and returns it, to one caller only. */
export function takeSignInCode(tx: Transaction, id: string): Promise<Omit<StoredCode, 'id'> | undefined> {
  return tx.get(take, { id })
}

/** Deletes codes whose end has come. Returns how many. */
export async function removeExpiredCodes(db: Database, now: number): Promise<number> {
  if (!(await db.get(anyExpired, { now }))) return 0
  return db.transaction((tx) => tx.run(removeExpired, { now, limit: removedAtOnce }))
}
