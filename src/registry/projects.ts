import { Problem } from '../errors.ts'
import type { AppendEvents } from '../log/append.ts'
import type { Database, Reader } from '../storage/database.ts'
import { type Caller, requireOperator } from './caller.ts'
import { findProject, insertProject, listProjects, type Project, requireProject } from './project-store.ts'

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

/** Makes a project: agents, mail and a log of its own. Making one that is there answers it. Operator only. */
export async function createProject(
  context: { db: Database; append: AppendEvents },
  caller: Caller,
  name: string,
): Promise<{ project: Project; created: boolean }> {
  requireOperator(caller, 'make projects')
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

/** Every project, by name. Operator only. */
export async function readProjects(db: Reader, caller: Caller): Promise<Project[]> {
  requireOperator(caller, 'list projects')
  return listProjects(db)
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
  if (caller.kind === 'operator') return { ...caller, projectId: await requireProject(db, projectId) }
  throw new Problem('forbidden', {
    field,
    detail: `${field}: ${caller.identity} belongs to project ${caller.projectId}, and its key works there only. Leave it out.`,
  })
}
