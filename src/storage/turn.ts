import type { Database } from './database.ts'
import { p, sql, statement } from './statement.ts'

const take = statement<{ name: string; owner: string; now: number; until: number }>(sql`insert into sweep (name, owner, until)
  values (${p('name')}, ${p('owner')}, ${p('until')})
  on conflict (name) do update set owner = excluded.owner, until = excluded.until
  where sweep.until <= ${p('now')} or sweep.owner = excluded.owner`)

/**
 * Whether it is this owner's turn to do what only one of several gateways should do. A turn lasts `forMs`; who asks again
 * during its own keeps it.
 */
export async function takeTurn(db: Database, name: string, owner: string, forMs: number): Promise<boolean> {
  return (await db.transaction((tx) => tx.run(take, { name, owner, now: tx.now, until: tx.now + forMs }))) > 0
}
