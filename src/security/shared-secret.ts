import { randomBytes } from 'node:crypto'
import type { Database } from '../storage/database.ts'
import { p, sql, statement } from '../storage/statement.ts'
import type { KeptSecret } from './kept-secret.ts'
import { keyIdOf, type SecretBox } from './secret.ts'

const keep = statement<{
  name: string
  sealed: string
  now: number
}>(sql`insert into shared_secret (name, sealed, created_at)
  values (${p('name')}, ${p('sealed')}, ${p('now')}) on conflict (name) do nothing`)
const kept = statement<{ name: string }, { sealed: string }>(
  sql`select sealed from shared_secret where name = ${p('name')}`,
)
const change = statement<{ name: string; known: string; sealed: string }>(
  sql`update shared_secret set sealed = ${p('sealed')} where name = ${p('name')} and sealed = ${p('known')}`,
)

const remove = statement<{ name: string; sealed: string }>(
  sql`delete from shared_secret where name = ${p('name')} and sealed = ${p('sealed')}`,
)
// The rows that record encryption keys hold no secret.
const all = statement<object, { name: string; sealed: string }>(
  sql`select name, sealed from shared_secret where name < 'encryption-key ' or name >= 'encryption-key!'`,
)

/** Seals all shared secrets again with the newest key. Returns their number, and the ids of keys that are not listed. */
export async function resealShared(
  db: Database,
  box: SecretBox,
): Promise<{ resealed: number; unreadable: readonly string[] }> {
  const unreadable: string[] = []
  let resealed = 0
  for (const { name, sealed: known } of await db.all(all, {})) {
    if (!box.knows(known)) {
      unreadable.push(keyIdOf(known))
      continue
    }
    const sealed = box.reseal(known, name)
    if (sealed !== known) resealed += await db.transaction((tx) => tx.run(change, { name, known, sealed }))
  }
  return { resealed, unreadable }
}

/** Its gateways find each other by it, so a store always has one. */
export const storeName = 'store-name'

/**
 * Removes shared secrets that are sealed with a key that is not listed. The next gateway that starts makes new ones. The name of the store
 * is replaced by a new one.
 */
export async function removeUnreadableShared(db: Database, box: SecretBox): Promise<void> {
  const lost = (await db.all(all, {})).filter(({ sealed }) => !box.knows(sealed))
  await db.transaction(async (tx) => {
    for (const { name, sealed } of lost) {
      if (name !== storeName) await tx.run(remove, { name, sealed })
      else await tx.run(change, { name, known: sealed, sealed: box.seal(randomBytes(32).toString('hex'), name) })
    }
  })
}

/** A secret that all gateways of one store share, sealed with the encryption key, which is not in the store. */
export class SharedSecret implements KeptSecret {
  readonly #db: Database
  readonly #box: SecretBox
  readonly #name: string

  constructor(db: Database, box: SecretBox, name: string) {
    this.#db = db
    this.#box = box
    this.#name = name
  }

  async read(): Promise<string | undefined> {
    const sealed = await this.#sealed()
    return sealed === undefined ? undefined : this.#box.open(sealed, this.#name)
  }

  async load(make: () => string | Promise<string>): Promise<string> {
    const found = await this.read()
    if (found !== undefined) return found
    const [name, sealed] = [this.#name, this.#box.seal(await make(), this.#name)]
    await this.#db.transaction((tx) => tx.run(keep, { name, sealed, now: tx.now }))
    return (await this.read()) as string
  }

  async replace(before: string, after: string): Promise<boolean> {
    const known = await this.#sealed()
    if (known === undefined || this.#box.open(known, this.#name) !== before) return false
    const values = { name: this.#name, known, sealed: this.#box.seal(after, this.#name) }
    return (await this.#db.transaction((tx) => tx.run(change, values))) === 1
  }

  async #sealed(): Promise<string | undefined> {
    return (await this.#db.get(kept, { name: this.#name }))?.sealed
  }
}
