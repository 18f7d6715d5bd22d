import { pathPart } from './ask-api.ts'

/**
 * The A2A address of an agent: `/projects/web/agents/donna` for `web:@donna`, and for `@donna` in the caller's own project. Errors:
 * `invalid-request`, which names the field.
 */
export function agentPath(field: string, address: string, ownProject: string): `/projects/${string}/agents/${string}` {
  const [, project = ownProject, handle = ''] = /^(?:([^:@]*):)?@?(.*)$/s.exec(address.trim()) ?? []
  return `/projects/${pathPart(field, project)}/agents/${pathPart(field, handle)}`
}
