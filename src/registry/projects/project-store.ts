import { Problem } from '../../errors.ts'
import type { LimitOverrides } from '../../limits.ts'
import { int, type NounOf, nullable, type RowOf, text } from '../../storage/columns.ts'
import type { Database, Reader, Transaction } from '../../storage/database.ts'
import { RowTable } from '../../storage/row-table.ts'
import { lockingStatement, p, sql, statement } from '../../storage/statement.ts'
import { newGate, saveGate } from '../recovery/gate-store.ts'
import { readOverrides } from './project-limits.ts'

/** The project of addresses and callers that name none. */
export const defaultProject = 'default'

const fields = { id: text, createdAt: int, limits: nullable(text) }
type ProjectRow = RowOf<typeof fields>
/** A tenant. It owns agents and a log. `limits`: those that differ from the defaults. */
export type Project = Omit<NounOf<typeof fields>, 'limits'> & { readonly limits: LimitOverrides }

const projects = new RowTable('project', fields)
const insert = projects.insert(sql`on conflict (id) do nothing`)
const one = sql`select ${projects.columns} from project where id = ${p('id')}`
const byId = statement<{ id: string }, ProjectRow>(one)
const lockById = lockingStatement<{ id: string }, ProjectRow>('project', one)
const all = statement<object, ProjectRow>(sql`select ${projects.columns} from project order by id`)
const setLimits = statement<{ id: string; limits: string | null }>(
  sql`update project set limits = ${p('limits')} where id = ${p('id')}`,
)

/** Creates a project unless it exists, in a transaction of its own. */
export function ensureProject(db: Database, id: string): Promise<number> {
  return db.transaction((tx) => insertProject(tx, id))
}

/** Creates a project, with its gate. Returns 0 when it exists. */
export async function insertProject(tx: Transaction, id: string): Promise<number> {
  const made = await tx.run(insert, { id, createdAt: tx.now, limits: null })
  if (made > 0) await saveGate(tx, newGate(id, tx.now))
  return made
}

export async function findProject(db: Reader, id: string): Promise<Project | undefined> {
  return fromRow(await db.get(byId, { id }))
}

/** Reads a project and locks it until the transaction ends. */
export async function lockProject(tx: Transaction, id: string): Promise<Project | undefined> {
  return fromRow(await tx.get(lockById, { id }))
}

export async function listProjects(db: Reader): Promise<Project[]> {
  return (await db.all(all, {})).map((row) => fromRow(row)!)
}

/** `limits`: JSON, or null for the defaults. */
export async function saveLimits(tx: Transaction, id: string, limits: string | null): Promise<void> {
  await tx.run(setLimits, { id, limits })
}

function fromRow(row: ProjectRow | undefined): Project | undefined {
  return row && { ...row, limits: readOverrides(row.limits) }
}

/** Returns the id of a project that exists. Errors: `project-not-found`. */
export async function requireProject(db: Reader, id: string): Promise<string> {
  const row = await findProject(db, id)
  if (!row) throw noProject(id)
  return row.id
}

export function noProject(id: string): Problem {
  return new Problem('project-not-found', { detail: `No project "${id}".` })
}
