import { Problem } from '../../errors.ts'
import type { LimitName } from '../../limits.ts'
import type { AppendEvents } from '../../log/append.ts'
import type { Database, PipelinedStatements, Reader, Transaction } from '../../storage/database.ts'
import { pipelined } from '../../storage/pipelined.ts'
import { type Caller, operates, requireAdmin, requireOperator } from '../callers/caller.ts'
import { changeOverrides } from './project-limits.ts'
import {
  findProject,
  insertProject,
  listProjects,
  lockProject,
  noProject,
  type Project,
  requireProject,
  saveLimits,
} from './project-store.ts'

const projectPattern = /^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$/

/** Parses a project's id, e.g. the `web` of `web:@donna`. Throws `invalid-request` naming the field. */
export function parseProject(text: string, field = 'project'): string {
  const project = text.trim().toLowerCase()
  if (projectPattern.test(project)) return project
  throw new Problem('invalid-request', {
    field,
    detail: `${field}: "${text}" is not a project. Use 1 to 40 letters, digits or "-", beginning and ending with a letter or digit.`,
  })
}

/** Makes a project, with its own agents, mail and log. Returns the existing one when there is one. Admins only. */
export async function createProject(
  context: { db: Database; append: AppendEvents },
  caller: Caller,
  name: string,
): Promise<{ project: Project; created: boolean }> {
  requireAdmin(caller, 'create projects')
  const id = parseProject(name)
  return context.db.transaction(async (tx) => {
    const created = (await insertProject(tx, id)) > 0
    if (created) {
      const event = { type: 'project.created', actor: caller.identity, audience: [], data: { project: id } } as const
      await context.append(tx, id, [event])
    }
    return { project: (await findProject(tx, id))!, created }
  })
}

/** The input of `PATCH /v1/projects/{id}`: a number sets a limit (0: no limit), null restores the default. */
type LimitChanges = { readonly [Name in LimitName]?: number | null | undefined }

/** Sets limits of a project. They hold on all gateways from each caller's next request on. Admins only. Errors: `project-not-found`. */
export async function changeLimits(
  context: { db: Database; append: AppendEvents },
  caller: Caller,
  name: string,
  changes: LimitChanges,
): Promise<Project> {
  requireAdmin(caller, 'set the limits of a project')
  const id = parseProject(name)
  await context.db.transaction(async (tx) => {
    if (!(await findProject(tx, id))) throw noProject(id)
    // Appending to the log locks this row too, so it is changed after that lock is taken: no deadlock.
    tx.beforeCommit(mergeLimits, { id, changes })
    const data = { project: id, limits: changes }
    await context.append(tx, id, [{ type: 'project.updated', actor: caller.identity, audience: [], data }])
  })
  return readProject(context.db, caller, id)
}

async function mergeLimits(
  tx: Transaction,
  items: readonly { id: string; changes: LimitChanges }[],
): Promise<PipelinedStatements> {
  for (const { id, changes } of items) {
    const project = await lockProject(tx, id)
    if (project) await saveLimits(tx, id, changeOverrides(project.limits, changes))
  }
  return pipelined()
}

/** Returns a project with its limits, to its operators. Errors: `project-not-found`. */
export async function readProject(db: Reader, caller: Caller, name: string): Promise<Project> {
  requireOperator(caller, 'read projects')
  const id = parseProject(name)
  const project = operates(caller, id) ? await findProject(db, id) : undefined
  if (!project) throw noProject(id)
  return project
}

/** Lists the projects that an operator may act in, by name. */
export async function readProjects(db: Reader, caller: Caller): Promise<Project[]> {
  requireOperator(caller, 'list projects')
  return (await listProjects(db)).filter(({ id }) => operates(caller, id))
}

/**
 * Returns the caller in a project that it names; by default its own, which is `default` for operators. Errors: `invalid-request`,
 * `project-not-found`, and `forbidden` for an agent that names a project that is not its own.
 */
export async function callerIn(
  db: Reader,
  caller: Caller,
  name: string | undefined,
  field = 'project',
): Promise<Caller> {
  if (name === undefined) return caller
  const projectId = parseProject(name, field)
  if (caller.kind === 'agent' && projectId === caller.projectId) return caller
  if (operates(caller, projectId))
    return { ...caller, projectId: await requireProject(db, projectId), namesProject: true }
  if (caller.kind === 'operator') throw notOperated(caller, projectId, field)
  throw new Problem('forbidden', {
    field,
    detail: `${field}: ${caller.identity} belongs to project ${caller.projectId}, and its key works only there. Leave the project out.`,
  })
}

/** The same answer whether the project exists or not. */
function notOperated({ projects = [] }: Caller, projectId: string, field: string): Problem {
  return new Problem('forbidden', {
    field,
    detail: `${field}: this operator key is not valid for project ${projectId}. It is valid for ${projects.join(', ')}.`,
  })
}
