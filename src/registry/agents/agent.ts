import { Problem } from '../../errors.ts'
import { cutText } from '../../lib/cut-text.ts'
import type { NounOf } from '../../storage/columns.ts'
import type { agentFields } from './agent-row.ts'

/** A durable identity with a handle, fronted by an A2A agent card. */
export type Agent = NounOf<typeof agentFields>

const handlePattern = /^[a-z0-9](?:[a-z0-9_.-]{0,62}[a-z0-9_])?$/
const reserved = new Set(['operator', 'all', 'system', 'gateway', 'removed'])
const typablePattern = /^[A-Za-z]{1,12}$/

/** `donna`, `@donna` and `@Donna` are one handle, `@donna`. Throws `invalid-request` naming the field. */
export function parseHandle(text: string, field = 'handle'): string {
  const bare = text.trim().replace(/^@/, '').toLowerCase()
  if (!handlePattern.test(bare)) {
    throw new Problem('invalid-request', {
      field,
      detail: `${field}: "${text}" is not a handle. Use 1 to 64 letters, digits, ".", "_" or "-", beginning and ending with a letter or digit.`,
    })
  }
  if (reserved.has(bare)) {
    throw new Problem('invalid-request', {
      field,
      detail: `${field}: "@${bare}" is reserved for the gateway. Choose another handle.`,
    })
  }
  return `@${bare}`
}

/**
 * Checks a new display name: 1 to 12 ASCII letters, and no reserved word. It is an address, so it is unique in its project. Agents that
 * were named before this rule keep their names. Errors: `invalid-request`. Source: S4-3.
 */
export function requireDisplayName(displayName: string | null | undefined): void {
  if (displayName == null || addressOfName(displayName) !== undefined) return
  const reason = typablePattern.test(displayName) ? 'is reserved for the gateway' : 'is not a display name'
  throw new Problem('invalid-request', {
    field: 'displayName',
    detail: `displayName: "${cutText(displayName, 100)}" ${reason}. Use 1 to 12 letters A to Z, without spaces; put the rest into the description.`,
  })
}

/** Returns the identity of an agent in a project: `@donna` in its own, `web:@donna` in others. Source: S4-14. */
export function identityIn(projectId: string, agent: { handle: string; projectId: string }): string {
  return agent.projectId === projectId ? agent.handle : `${agent.projectId}:${agent.handle}`
}

/**
 * Returns the address that a display name makes: `@donna` for `Donna`. Only 1 to 12 ASCII letters make one, and reserved words
 * do not; one that was given before this rule is for people to read. Source: S4-3.
 */
export function addressOfName(displayName: string | null): string | undefined {
  if (displayName === null || !typablePattern.test(displayName)) return undefined
  const bare = displayName.toLowerCase()
  return reserved.has(bare) ? undefined : `@${bare}`
}
