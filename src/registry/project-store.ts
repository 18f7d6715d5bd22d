import { Problem } from '../errors.ts'
import type { Database, Reader, Transaction } from '../storage/database.ts'
import { p, sql, statement } from '../storage/statement.ts'

/** The project of every address that names none. */
export const defaultProject = 'default'

/** The tenant: owns agents and a log. */
export interface Project {
  readonly id: string
  readonly createdAt: number
}

const insert = statement<{ id: string; now: number }>(
  sql`insert into project (id, created_at) values (${p('id')}, ${p('now')}) on conflict (id) do nothing`,
)
const byId = statement<{ id: string }, Project>(
  sql`select id, created_at as "createdAt" from project where id = ${p('id')}`,
)
const all = statement<object, Project>(sql`select id, created_at as "createdAt" from project order by id`)

/** Creates the project unless it is there. */
export function ensureProject(db: Database, id: string): Promise<number> {
  return db.transaction((tx) => tx.run(insert, { id, now: tx.now }))
}

/** Within a transaction. Answers 0 when it is there. */
export function insertProject(tx: Transaction, id: string): Promise<number> {
  return tx.run(insert, { id, now: tx.now })
}

export function findProject(db: Reader, id: string): Promise<Project | undefined> {
  return db.get(byId, { id })
}

export function listProjects(db: Reader): Promise<Project[]> {
  return db.all(all, {})
}

export async function requireProject(db: Reader, id: string): Promise<string> {
  const row = await findProject(db, id)
  if (!row) throw new Problem('project-not-found', { detail: `No project "${id}".` })
  return row.id
}
