import { Router } from 'express'
import type { JsonObject } from '../../lib/json.ts'
import type { RegistryContext } from '../../registry/agents/agents.ts'
import type { Project } from '../../registry/projects/project-store.ts'
import { changeLimits, createProject, readProject, readProjects } from '../../registry/projects/projects.ts'
import { type LimitName, projectLimits } from '../../share-limits.ts'
import { noteTarget } from '../access/rest-access.ts'
import { callerOf } from '../auth.ts'
import { onlyMethods } from '../method-not-allowed.ts'
import { parse } from '../validate.ts'
import { projectChanges, projectInput } from './schemas.ts'

/** What the projects routes need: `messagesPerMinute` is the gateway's default of that rate. */
export interface ProjectFrontContext extends RegistryContext {
  readonly messagesPerMinute: number
}

/** `/v1/projects`: the tenants and their limits, for the operator. Source: S4-14. */
export function projectRoutes(context: ProjectFrontContext): Router {
  const router = Router()
  router.post('/', async (req, res) => {
    const { project } = parse(projectInput, req.body)
    noteTarget(res, project)
    const made = await createProject(context, callerOf(res), project)
    res.status(made.created ? 201 : 200).json(projectView(made.project))
  })
  router.get('/', async (_req, res) => {
    res.json({ projects: (await readProjects(context.db, callerOf(res))).map(projectView) })
  })
  router.get('/:project', async (req, res) => {
    res.json(detailView(context, await readProject(context.db, callerOf(res), req.params.project)))
  })
  router.patch('/:project', async (req, res) => {
    const { limits } = parse(projectChanges, req.body)
    res.json(detailView(context, await changeLimits(context, callerOf(res), req.params.project, limits)))
  })
  router.all('/', onlyMethods('GET', 'POST'))
  router.all('/:project', onlyMethods('GET', 'PATCH'))
  return router
}

function projectView({ id, createdAt }: Project): JsonObject {
  return { project: id, createdAt: new Date(createdAt).toISOString() }
}

/** `limits` has every limit as it is now, `overrides` those that are not the default. */
function detailView({ messagesPerMinute }: ProjectFrontContext, project: Project): JsonObject {
  const defaults = Object.entries(projectLimits).map(([name, { max }]) => [name, max])
  const limits = { ...Object.fromEntries(defaults), messagesPerMinute, ...project.limits } as Record<LimitName, number>
  return { ...projectView(project), limits, overrides: project.limits }
}
