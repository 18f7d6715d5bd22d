import type { Reader } from '../storage/database.ts'
import { sql, statement } from '../storage/statement.ts'
import type { SecretBox } from './secret.ts'

const kept = statement<object, { name: string }>(sql`select name from shared_secret`)

/** A row of the table with the secrets that the gateways of one store share. */
interface SharedSecretRow {
  readonly name: string
  readonly sealed: string
  readonly created_at: number
}

/** The keys of a single gateway as rows for a store that gateways share. What the store shares already stays as it is. */
export async function carriedSecrets(
  db: Reader,
  box: SecretBox,
  keys: Readonly<Record<string, string | undefined>>,
  now: number,
): Promise<SharedSecretRow[]> {
  const shared = new Set((await db.all(kept, {})).map(({ name }) => name))
  return Object.entries(keys).flatMap(([name, key]) =>
    key === undefined || shared.has(name) ? [] : [{ name, sealed: box.seal(key, name), created_at: now }],
  )
}
