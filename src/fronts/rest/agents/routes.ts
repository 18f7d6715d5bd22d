import { z } from 'zod'
import { removeAgent } from '../../../identity/remove-agent.ts'
import { readBoundedPage } from '../../../lib/bounded-page.ts'
import { sizeLimits } from '../../../limits.ts'
import type { Agent } from '../../../registry/agents/agent.ts'
import { listAgentsAfter, sizeOfAgent } from '../../../registry/agents/agent-store.ts'
import { changeAgent, registerAgent, requireAgent } from '../../../registry/agents/agents.ts'
import { findLastUses } from '../../../registry/callers/api-key-store.ts'
import type { Session } from '../../../registry/sessions/session.ts'
import { findLiveSessions, newestLiveSession } from '../../../registry/sessions/session-lists.ts'
import { accessLevels, contactPolicies, wakePolicies } from '../../../words/policies.ts'
import { flag, line, names, oneOf, text } from '../fields.ts'
import { listMax, nextToken, pageFields } from '../page.ts'
import { route } from '../route.ts'
import { agentView, type NewAgentView, presentAgentView } from './view.ts'

const skill = z.strictObject({
  id: line(100).min(1),
  name: line(200).min(1),
  description: text(2000).optional(),
  tags: names.optional(),
  examples: z.array(text(2000)).max(20).optional(),
  inputModes: names.optional(),
  outputModes: names.optional(),
})

const fields = {
  displayName: line(100).nullable().optional(),
  description: text(4000).nullable().optional(),
  aliases: z.array(line(65)).max(20).optional(),
  skills: z.array(skill).max(100).optional(),
  inputModes: names.optional(),
  outputModes: names.optional(),
  access: oneOf(accessLevels).optional(),
  contactPolicy: oneOf(contactPolicies).optional(),
  defaultWakePolicy: oneOf(wakePolicies).optional(),
}

const newAgent = z.strictObject({ handle: line(65).min(1), project: line(40).optional(), ...fields })

const agentChanges = z.strictObject(fields)

const agentQuery = z.object(pageFields)

const removalQuery = z.strictObject({ freeNames: flag.default(false) })

/** `/v1/agents`: register, read, change, remove. Readers of an agent see what its harness does. */
export const agentRoutes = [
  route('GET /v1/agents', {
    name: 'agent.list',
    what: 'list agents',
    access: { scope: 'read', operator: 'any', agent: 'project', peer: 'never', audited: 'no' },
    query: agentQuery,
    handle: async ({ caller, query }, { db, clock }) => {
      const { limit = listMax, pageToken = '' } = query
      const { projectId } = caller
      const read = async (last: PresentAgent | undefined, count: number): Promise<PresentAgent[]> => {
        const agents = await listAgentsAfter(db, projectId, last?.agent.handle ?? pageToken, count)
        const live = await findLiveSessions(
          db,
          agents.map(({ id }) => id),
        )
        return agents.map((agent) => ({ agent, session: live.get(agent.id) }))
      }
      const page = { limit, sizeMax: sizeLimits.page.max, sizeOf: sizeOfPresent }
      const { items, more } = await readBoundedPage(read, page)
      const uses = await findLastUses(
        db,
        items.map(({ agent }) => agent.id),
      )
      const now = clock.now()
      return {
        agents: items.map(({ agent, session }) => presentAgentView(agent, session, uses.get(agent.id), now)),
        nextPageToken: nextToken(items, more, ({ agent }) => agent.handle),
      }
    },
  }),
  route('POST /v1/agents', {
    name: 'agent.register',
    what: 'register agents',
    access: { scope: 'mint', operator: 'any', agent: 'never', peer: 'never', audited: 'first' },
    hasSecret: true,
    body: newAgent,
    status: 201,
    handle: async ({ caller, body, reply }, context): Promise<NewAgentView> => {
      const { agent, keyId, apiKey } = await registerAgent(context, caller, body)
      reply.headers.Location = `/v1/agents/${agent.handle.slice(1)}`
      return { agent: agentView(agent), apiKey, keyId }
    },
  }),
  route('GET /v1/agents/:handle', {
    name: 'agent.read',
    what: 'read an agent',
    access: { scope: 'read', operator: 'any', agent: 'project', peer: 'never', audited: 'no' },
    handle: async ({ caller, params }, { db, clock }) => {
      const agent = await requireAgent(db, caller.projectId, params.handle)
      const uses = await findLastUses(db, [agent.id])
      return presentAgentView(agent, await newestLiveSession(db, agent.id), uses.get(agent.id), clock.now())
    },
  }),
  route('PATCH /v1/agents/:handle', {
    name: 'agent.change',
    what: 'change an agent',
    access: { scope: 'manage', operator: 'any', agent: 'own', peer: 'never', audited: 'first' },
    body: agentChanges,
    handle: async ({ caller, params, body }, context) =>
      agentView(await changeAgent(context, caller, params.handle, body)),
  }),
  route('DELETE /v1/agents/:handle', {
    name: 'agent.remove',
    what: 'remove agents',
    access: { scope: 'manage', operator: 'any', agent: 'never', peer: 'never', audited: 'first' },
    query: removalQuery,
    handle: async ({ caller, params, query }, context) => removeAgent(context, caller, params.handle, query),
  }),
] as const

interface PresentAgent {
  readonly agent: Agent
  readonly session: Session | undefined
}

/** Views of an agent have the capabilities of its session twice: those of the session and of its presence. */
function sizeOfPresent({ agent, session }: PresentAgent): number {
  return sizeOfAgent(agent) + (session === undefined ? 0 : 2 * JSON.stringify(session.capabilities).length)
}
