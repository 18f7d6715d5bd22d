import { Problem } from '../../errors.ts'
import type { AppendEvents } from '../../log/append.ts'
import type { LimitName } from '../../share-limits.ts'
import type { Database, Pipelined, Reader, Transaction } from '../../storage/database.ts'
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

/** `web` of `web:@donna` and of `/projects/web/agents/donna`. Throws `invalid-request` naming the field. */
export function parseProject(text: string, field = 'project'): string {
  const project = text.trim().toLowerCase()
  if (projectPattern.test(project)) return project
  throw new Problem('invalid-request', {
    field,
    detail: `${field}: "${text}" is not a project. Use 1 to 40 letters, digits or "-", beginning and ending with a letter or digit.`,
  })
}

/** Makes a project: agents, mail and a log of its own. Making one that is there answers it. Admins only. */
export async function createProject(
  context: { db: Database; append: AppendEvents },
  caller: Caller,
  name: string,
): Promise<{ project: Project; created: boolean }> {
  requireAdmin(caller, 'make projects')
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

/** What `PATCH /v1/projects/{id}` may say: a number sets a limit (0: none), null gives the default back. */
export type LimitChanges = { readonly [Name in LimitName]?: number | null | undefined }

/** Sets limits of a project, for all gateways, from each caller's next request on. Admins only. Errors: `project-not-found`. */
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
    // The row is the log's: it is changed when this transaction has the log, so that none waits for the other.
    tx.beforeCommit(mergeLimits, { id, changes })
    const data = { project: id, limits: changes }
    await context.append(tx, id, [{ type: 'project.updated', actor: caller.identity, audience: [], data }])
  })
  return readProject(context.db, caller, id)
}

async function mergeLimits(
  tx: Transaction,
  items: readonly { id: string; changes: LimitChanges }[],
): Promise<Pipelined> {
  for (const { id, changes } of items) {
    const project = await lockProject(tx, id)
    if (project) await saveLimits(tx, id, changeOverrides(project.limits, changes))
  }
  return pipelined()
}

/** One project with its limits, for its operators. Errors: `project-not-found`. */
export async function readProject(db: Reader, caller: Caller, name: string): Promise<Project> {
  requireOperator(caller, 'read projects')
  const id = parseProject(name)
  const project = operates(caller, id) ? await findProject(db, id) : undefined
  if (!project) throw noProject(id)
  return project
}

/** The projects that the operator may act in, by name. */
export async function readProjects(db: Reader, caller: Caller): Promise<Project[]> {
  requireOperator(caller, 'list projects')
  return (await listProjects(db)).filter(({ id }) => operates(caller, id))
}

/**
 * The caller within the project that it names; without one, its own. The operator's is `default`. Errors: `invalid-request`,
 * `project-not-found`, and `forbidden` for an agent that names another project than its own.
 */
export async function callerIn(
  db: Reader,
  caller: Caller,
  name: string | undefined,
  field = 'project',
): Promise<Caller> {
  if (name === undefined) return caller
  const projectId = parseProject(name, field)
  if (projectId === caller.projectId) return caller
  if (operates(caller, projectId)) return { ...caller, projectId: await requireProject(db, projectId) }
  if (caller.kind === 'operator') throw notOperated(caller, projectId, field)
  throw new Problem('forbidden', {
    field,
    detail: `${field}: ${caller.identity} belongs to project ${caller.projectId}, and its key works there only. Leave it out.`,
  })
}

/** The same for a project that is there and for one that is not. */
function notOperated({ projects = [] }: Caller, projectId: string, field: string): Problem {
  return new Problem('forbidden', {
    field,
    detail: `${field}: this operator key is not for project ${projectId}. It is for ${projects.join(', ')}.`,
  })
}
