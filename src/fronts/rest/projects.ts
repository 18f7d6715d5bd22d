import { z } from 'zod'
import { type LimitName, projectLimits } from '../../limits.ts'
import type { Project } from '../../registry/projects/project-store.ts'
import { changeLimits, createProject, readProject, readProjects } from '../../registry/projects/projects.ts'
import type { FrontContext } from '../front-context.ts'
import { line } from './fields.ts'
import { instant } from './instant.ts'
import { route } from './route.ts'

const limitValue = z
  .int({ error: 'must be a number (0: no limit), or null for the default' })
  .min(0, 'is 0 (no limit) or more')
  .max(Number.MAX_SAFE_INTEGER)
  .nullable()
const limitNames = Object.keys(projectLimits) as LimitName[]
const limitFields = Object.fromEntries(limitNames.map((name) => [name, limitValue.optional()])) as Record<
  LimitName,
  z.ZodOptional<typeof limitValue>
>
const projectChanges = z.strictObject({ limits: z.strictObject(limitFields) })
const newProject = z.strictObject({ project: line(40).min(1) })

export interface ProjectView {
  readonly project: string
  readonly createdAt: string
}

/** A project with what it and its agents may use; 0 is no limit. */
export interface ProjectLimitsView extends ProjectView {
  /** Every limit as it is now. */
  readonly limits: Readonly<Record<LimitName, number>>
  /** The limits that are not the default. */
  readonly overrides: Project['limits']
}

/** `/v1/projects`: the tenants and their limits, for the operator. Source: S4-14. */
export const projectRoutes = [
  route('GET /v1/projects', {
    name: 'project.list',
    what: 'list projects',
    access: { scope: 'read', operator: 'any', agent: 'never', peer: 'never', audited: 'no' },
    handle: async ({ caller }, { db }) => ({
      projects: (await readProjects(db, caller)).map(projectView),
    }),
  }),
  route('GET /v1/projects/:project', {
    name: 'project.read',
    what: 'read the limits of projects',
    access: { scope: 'read', operator: 'any', agent: 'never', peer: 'never', audited: 'no' },
    handle: async ({ caller, params }, context) =>
      limitsView(context, await readProject(context.db, caller, params.project)),
  }),
  route('PATCH /v1/projects/:project', {
    name: 'project.change',
    what: 'change the limits of projects',
    access: { scope: 'manage', operator: 'admin', agent: 'never', peer: 'never', audited: 'first' },
    body: projectChanges,
    handle: async ({ caller, params, body }, context) =>
      limitsView(context, await changeLimits(context, caller, params.project, body.limits)),
  }),
  route('POST /v1/projects', {
    name: 'project.make',
    what: 'make projects',
    access: { scope: 'manage', operator: 'admin', agent: 'never', peer: 'never', audited: 'first' },
    body: newProject,
    status: 201,
    handle: async ({ caller, body, reply }, context) => {
      reply.target = body.project
      const { project, created } = await createProject(context, caller, body.project)
      if (!created) reply.status = 200
      return projectView(project)
    },
  }),
] as const

function projectView({ id, createdAt }: Project): ProjectView {
  return { project: id, createdAt: instant(createdAt) }
}

function limitsView({ mail }: FrontContext, project: Project): ProjectLimitsView {
  const defaults = Object.entries(projectLimits).map(([name, { max }]) => [name, max])
  const messagesPerMinute = mail.limits.perMinute
  const limits = { ...Object.fromEntries(defaults), messagesPerMinute, ...project.limits } as Record<LimitName, number>
  return { ...projectView(project), limits, overrides: project.limits }
}
