import { Problem } from '../errors.ts'
import type { Database, Reader } from '../storage/database.ts'
import { p, sql, statement } from '../storage/statement.ts'

/** The project of every address that names none. */
export const defaultProject = 'default'

const insert = statement<{ id: string; now: number }>(
  sql`insert into project (id, created_at) values (${p('id')}, ${p('now')}) on conflict (id) do nothing`,
)
const exists = statement<{ id: string }, { id: string }>(sql`select id from project where id = ${p('id')}`)

/** Creates the project unless it is there. */
export function ensureProject(db: Database, id: string): Promise<number> {
  return db.transaction((tx) => tx.run(insert, { id, now: tx.now }))
}

export async function requireProject(db: Reader, id: string): Promise<string> {
  const row = await db.get(exists, { id })
  if (!row) throw new Problem('project-not-found', { detail: `No project "${id}".` })
  return row.id
}
