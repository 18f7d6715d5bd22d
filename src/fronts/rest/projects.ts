import { Router } from 'express'
import type { JsonObject } from '../../lib/json.ts'
import type { RegistryContext } from '../../registry/agents.ts'
import type { Project } from '../../registry/project-store.ts'
import { createProject, readProjects } from '../../registry/projects.ts'
import { callerOf } from '../auth.ts'
import { onlyMethods } from '../method-not-allowed.ts'
import { parse } from '../validate.ts'
import { projectInput } from './schemas.ts'

/** `/v1/projects`: the tenants, for the operator. Source: S4-14. */
export function projectRoutes(context: RegistryContext): Router {
  const router = Router()
  router.post('/', async (req, res) => {
    const { project } = parse(projectInput, req.body)
    const made = await createProject(context, callerOf(res), project)
    res.status(made.created ? 201 : 200).json(projectView(made.project))
  })
  router.get('/', async (_req, res) => {
    res.json({ projects: (await readProjects(context.db, callerOf(res))).map(projectView) })
  })
  router.all('/', onlyMethods('GET', 'POST'))
  return router
}

function projectView({ id, createdAt }: Project): JsonObject {
  return { project: id, createdAt: new Date(createdAt).toISOString() }
}
