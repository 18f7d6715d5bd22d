import { Problem } from '../../errors.ts'
import type { LimitOverrides } from '../../limits.ts'
import type { Database, Reader, Transaction } from '../../storage/database.ts'
import { lockingStatement, p, sql, statement } from '../../storage/statement.ts'
import { newGate, saveGate } from '../recovery/gate-store.ts'
import { readOverrides } from './project-limits.ts'

/** The project of addresses and callers that name none. */
export const defaultProject = 'default'

/** A tenant. It owns agents and a log. */
export interface Project {
  readonly id: string
  readonly createdAt: number
  /** The limits that differ from the defaults. */
  readonly limits: LimitOverrides
}

interface ProjectRow {
  id: string
  createdAt: number
  limits: string | null
}

const insert = statement<{ id: string; now: number }>(
  sql`insert into project (id, created_at) values (${p('id')}, ${p('now')}) on conflict (id) do nothing`,
)
const byId = statement<{ id: string }, ProjectRow>(
  sql`select id, created_at as "createdAt", limits from project where id = ${p('id')}`,
)
const lockById = lockingStatement<{ id: string }, ProjectRow>(
  'project',
  sql`select id, created_at as "createdAt", limits from project where id = ${p('id')}`,
)
const all = statement<object, ProjectRow>(sql`select id, created_at as "createdAt", limits from project order by id`)
const setLimits = statement<{ id: string; limits: string | null }>(
  sql`update project set limits = ${p('limits')} where id = ${p('id')}`,
)

/** Creates a project unless it exists, in a transaction of its own. */
export function ensureProject(db: Database, id: string): Promise<number> {
  return db.transaction((tx) => insertProject(tx, id))
}

/** Creates a project, with its gate. Returns 0 when it exists. */
export async function insertProject(tx: Transaction, id: string): Promise<number> {
  const made = await tx.run(insert, { id, now: tx.now })
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
