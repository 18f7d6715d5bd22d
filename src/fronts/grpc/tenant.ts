import { tenantMetadata } from '../../agent-card/card.ts'
import { Problem } from '../../errors.ts'
import { cutText } from '../../lib/cut-text.ts'
import { defaultProject } from '../../registry/projects/project-store.ts'
import type { AgentAddress } from '../a2a/called-agent.ts'
import { decodeSegment } from '../decode-segment.ts'

const pattern = /^\/?(?:projects\/([^/]+)\/)?agents\/([^/]+)\/?$/

/**
 * Parses a tenant: `agents/donna`, or `projects/blue/agents/donna` in another project. Errors: `invalid-request` for an empty
 * tenant, `agent-not-found` for one of another form.
 */
export function parseTenant(tenant: string): AgentAddress {
  if (!tenant) {
    throw new Problem('invalid-request', {
      field: 'tenant',
      detail: `tenant is required: send the tenant from the agent's card, e.g. agents/donna. A v0.3 client sends it as metadata "${tenantMetadata}".`,
    })
  }
  const [, project = defaultProject, handle] = pattern.exec(tenant) ?? []
  if (handle) return { project: decodeSegment(project), handle: decodeSegment(handle) }
  throw new Problem('agent-not-found', {
    field: 'tenant',
    detail: `No agent has the tenant "${cutText(tenant, 200)}". A tenant is agents/{handle} or projects/{project}/agents/{handle}.`,
  })
}
