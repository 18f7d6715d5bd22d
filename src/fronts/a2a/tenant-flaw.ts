import { cutText } from '../../lib/cut-text.ts'
import { isJsonObject } from '../../lib/json.ts'
import type { Agent } from '../../registry/agents/agent.ts'
import { defaultProject } from '../../registry/projects/project-store.ts'

/**
 * Describes the tenant of a request over HTTP that names another agent than the address does: the client means another one, so it
 * is refused. Undefined: none, or the same agent. Over gRPC the tenant chooses the agent. Pure.
 */
export function tenantFlaw({ projectId, handle }: Agent, params: unknown): string | undefined {
  const tenant = isJsonObject(params) ? params.tenant : undefined
  if (tenant === undefined || tenant === null || tenant === '') return undefined
  if (typeof tenant !== 'string') return 'tenant: must be a string. Leave it out, or name the agent at this address.'
  const bare = handle.slice(1)
  const names = [`projects/${projectId}/agents/${bare}`, ...(projectId === defaultProject ? [`agents/${bare}`] : [])]
  const named = tenant
    .replace(/^\/|\/$/g, '')
    .replace('agents/@', 'agents/')
    .toLowerCase()
  if (names.includes(named)) return undefined
  return `tenant: "${cutText(tenant, 200)}" is not the agent at this address, ${handle}. Leave the tenant out, or call the address of that agent.`
}
