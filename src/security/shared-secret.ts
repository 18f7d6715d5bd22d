import type { Database } from '../storage/database.ts'
import { p, sql, statement } from '../storage/statement.ts'
import type { SecretBox } from './secret.ts'

const keep = statement<{
  name: string
  sealed: string
  now: number
}>(sql`insert into shared_secret (name, sealed, created_at)
  values (${p('name')}, ${p('sealed')}, ${p('now')}) on conflict (name) do nothing`)
const kept = statement<{ name: string }, { sealed: string }>(
  sql`select sealed from shared_secret where name = ${p('name')}`,
)

/**
 * What all gateways of one store have in common: the first one's value, sealed with the encryption key. Throws when this
 * gateway's encryption key is not the one that it was sealed with.
 */
export async function sharedSecret(
  db: Database,
  box: SecretBox,
  name: string,
  make: () => string | Promise<string>,
): Promise<string> {
  let row = await db.get(kept, { name })
  if (!row) {
    const sealed = box.seal(await make(), name)
    await db.transaction((tx) => tx.run(keep, { name, sealed, now: tx.now }))
    row = (await db.get(kept, { name }))!
  }
  try {
    return box.open(row.sealed, name)
  } catch (error) {
    throw new Error(
      'The secrets of this store are sealed with another encryption key. Set ROUSE_ENCRYPTION_KEY to that of the gateway that made the store: it is in encryption.key of its data directory, unless it was set there too.',
      { cause: error },
    )
  }
}
