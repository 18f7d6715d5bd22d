import type { Reader } from '../storage/database.ts'
import { sql, statement } from '../storage/statement.ts'

const sealed = statement<object, { text: string }>(sql`select max(signing_key) as text from subscription
  where signing_key is not null and status <> 'removed' group by substr(signing_key, 1, 8)`)

/** One encrypted signing key for each encryption key that any of them needs. */
export async function sampleSigningKeys(db: Reader): Promise<string[]> {
  return (await db.all(sealed, {})).map(({ text }) => text)
}
