import type { JsonObject } from '../../../lib/json.ts'
import { agentPath } from '../agent-path.ts'
import type { AskApi } from '../ask-api.ts'
import type { FindIdentity } from '../client-identity.ts'
import type { ResourceKind } from './uris.ts'

/** Reading a resource delivers no mail, because not only the model opens resources. */
const headers = { 'rouse-pending-signals': 'none' }

/** Reads a resource by its id or handle. Errors: `Refused`, `GatewayUnreachable`, `invalid-request`. */
export const readResource: Record<ResourceKind, (api: AskApi, name: string, own: FindIdentity) => Promise<JsonObject>> =
  {
    inbox: async (api, name, own) => {
      const { identity } = await own(api)
      const agent = name === identity ? undefined : name
      return api.rest('GET /v1/inbox', { query: { unread: 'true', limit: 50, agent }, headers })
    },
    thread: ({ rest }, id) => rest('GET /v1/threads/:id', { params: { id }, query: { limit: 200 }, headers }),
    task: ({ rest }, id) => rest('GET /v1/tasks/:id', { params: { id }, headers }),
    agent: async (api, name, own) => {
      const { project } = await own(api)
      const path = `${agentPath('handle', name, project)}/.well-known/agent-card.json` as const
      return api.request({ method: 'GET', path, headers: { 'a2a-version': '1.0' } })
    },
  }
