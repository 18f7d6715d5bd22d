import type { Database } from '../storage/database.ts'
import { p, sql, statement } from '../storage/statement.ts'
import type { SecretBox } from './secret.ts'

const prefix = 'encryption-key '

const listed = statement<object, { name: string }>(
  sql`select name from shared_secret where name >= 'encryption-key ' and name < 'encryption-key!'`,
)
const mark = statement<{ name: string; sealed: string; now: number }>(
  sql`insert into shared_secret (name, sealed, created_at)
    values (${p('name')}, ${p('sealed')}, ${p('now')}) on conflict (name) do nothing`,
)
const unmark = statement<{ name: string }>(sql`delete from shared_secret where name = ${p('name')}`)

/** The ids of the encryption keys with which data in the store may be sealed. Empty: none is recorded yet. */
export async function markedKeyIds(db: Pick<Database, 'all'>): Promise<string[]> {
  return (await db.all(listed, {})).map(({ name }) => name.slice(prefix.length))
}

/** Records keys with which data is sealed, or is about to be. */
export async function markKeys(db: Database, box: SecretBox, ids: readonly string[]): Promise<void> {
  const missing = new Set(ids)
  for (const id of await markedKeyIds(db)) missing.delete(id)
  if (missing.size === 0) return
  await db.transaction(async (tx) => {
    for (const name of [...missing].map((id) => prefix + id)) {
      await tx.run(mark, { name, sealed: box.seal('', name), now: tx.now })
    }
  })
}

/** Removes the records of keys with which no data is sealed any more. */
export async function unmarkKeys(db: Database, ids: readonly string[]): Promise<void> {
  await db.transaction(async (tx) => {
    for (const id of ids) await tx.run(unmark, { name: prefix + id })
  })
}
