import { Problem } from '../../errors.ts'
import type { LimitOverrides } from '../../share-limits.ts'
import { identityIn } from '../agents/agent.ts'
import { operatorId, operatorIdentity } from '../agents/identity.ts'
import { defaultProject } from '../projects/project-store.ts'
import type { OperatorRole } from './operator-role.ts'
import { type Scope, scopes } from './scopes.ts'

/** Who makes a request, as its key or token proves. Everything that is read or changed is scoped to it first. */
export interface Caller {
  readonly kind: 'operator' | 'agent'
  /** The agent's id, or `operator`. */
  readonly id: string
  /** `@donna`, or `@operator`. */
  readonly identity: string
  readonly projectId: string
  /**
   * What proved it: an API key's id, an operator key's id, `admin`, or `jwt:…` for an issuer's token. What is held open under it
   * ends when it is revoked.
   */
  readonly keyId: string
  readonly scopes: readonly Scope[]
  /** When the key or token expires, ms since the epoch; absent: never. */
  readonly expiresAt?: number
  /** What an operator may do; absent: it is an agent. */
  readonly role?: OperatorRole
  /** The projects that an operator may act in; absent: all of them. */
  readonly projects?: readonly string[]
  /** What its project has instead of the default limits. */
  readonly limits?: LimitOverrides
}

export const operator: Caller = {
  kind: 'operator',
  id: operatorId,
  identity: operatorIdentity,
  projectId: defaultProject,
  keyId: 'admin',
  scopes,
  role: 'admin',
}

/** Whether a caller is an operator of a project. */
export function operates(caller: Caller, projectId: string): boolean {
  return caller.kind === 'operator' && (caller.projects === undefined || caller.projects.includes(projectId))
}

/** What a caller is called in a project: `@donna` at home, `web:@donna` elsewhere; a person is `@operator` everywhere. Source: S4-14. */
export function nameIn(projectId: string, caller: Caller): string {
  if (caller.kind === 'operator') return caller.identity
  return identityIn(projectId, { handle: caller.identity, projectId: caller.projectId })
}

/** The caller must be the operator, or the agent itself. */
export function requireSelf(caller: Caller, agentId: string, act: string): void {
  if (caller.kind === 'operator' || caller.id === agentId) return
  throw new Problem('forbidden', { detail: `Only the agent itself or the operator may ${act}.` })
}

export function requireOperator(caller: Caller, act: string): void {
  if (caller.kind === 'operator') return
  throw new Problem('forbidden', { detail: `Only the operator may ${act}; use the admin key.` })
}

/** For what concerns every project: a manager or a viewer of some is not enough. */
export function requireAdmin(caller: Caller, act: string): void {
  requireOperator(caller, act)
  if (caller.role === 'admin') return
  throw new Problem('forbidden', {
    detail: `Only an operator with the role admin may ${act}; this key has the role ${caller.role}.`,
  })
}
