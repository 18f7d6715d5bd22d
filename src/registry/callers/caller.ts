import { Problem } from '../../errors.ts'
import type { LimitOverrides } from '../../limits.ts'
import type { OperatorRole } from '../../words/callers.ts'
import { operatorIdentity, operatorRoles, type Scope } from '../../words/callers.ts'
import type { WakePolicy } from '../../words/policies.ts'
import { identityIn } from '../agents/agent.ts'
import { operatorId } from '../agents/identity.ts'
import type { Party } from '../agents/party.ts'
import { defaultProject } from '../projects/project-store.ts'

/** The authenticated sender of a request. Every read and write is scoped to it. */
export interface Caller {
  readonly kind: 'operator' | 'agent'
  /** The agent's id, or `operator`. */
  readonly id: string
  /** `@donna`, or `@operator`. */
  readonly identity: string
  readonly projectId: string
  /**
   * Its credential: an API key's id, an operator key's id, `admin`, or `jwt:…` for an issuer's token. Streams and calls that were
   * opened with it end when it is revoked.
   */
  readonly keyId: string
  readonly scopes: readonly Scope[]
  /** When the key or token expires, ms since the epoch; absent: never. */
  readonly expiresAt?: number
  /** The name of the person, of an operator whose key or token has one. */
  readonly name?: string
  /** Absent for agents. */
  readonly role?: OperatorRole
  /** The projects that an operator may act in; absent: all of them. */
  readonly projects?: readonly string[]
  /** Present when the request of an operator names its project. */
  readonly namesProject?: true
  /** An agent's `defaultWakePolicy`; absent: `immediate`. */
  readonly defaultWakePolicy?: WakePolicy
  /** The limits of its project that differ from the defaults. */
  readonly limits?: LimitOverrides
}

export const operator: Caller = {
  kind: 'operator',
  id: operatorId,
  identity: operatorIdentity,
  projectId: defaultProject,
  keyId: 'admin',
  scopes: operatorRoles.admin,
  role: 'admin',
}

/** True when a caller is an operator of a project. */
export function operates(caller: Caller, projectId: string): boolean {
  return caller.kind === 'operator' && (caller.projects === undefined || caller.projects.includes(projectId))
}

/** Returns a caller's identity in a project: `@donna` in its own, `web:@donna` in others; `@operator` in all. Source: S4-14. */
export function nameIn(projectId: string, caller: Caller): string {
  if (caller.kind === 'operator') return caller.identity
  return identityIn(projectId, { handle: caller.identity, projectId: caller.projectId })
}

/** The caller as a party of an event. */
export function partyFrom({ kind, id, identity, projectId, defaultWakePolicy = 'immediate' }: Caller): Party {
  return { id, identity, projectId: kind === 'agent' ? projectId : null, wakePolicy: defaultWakePolicy }
}

/** Requires the agent itself or an operator. Errors: `forbidden`. */
export function requireSelf(caller: Caller, agentId: string, act: string): void {
  if (caller.kind === 'operator' || caller.id === agentId) return
  throw new Problem('forbidden', { detail: `Only the agent itself or the operator may ${act}.` })
}

export function requireOperator(caller: Caller, act: string): void {
  if (caller.kind === 'operator') return
  throw new Problem('forbidden', { detail: `Only the operator may ${act}; use the admin key.` })
}

/** Requires an operator of all projects. Errors: `forbidden`. */
export function requireAdmin(caller: Caller, act: string): void {
  requireOperator(caller, act)
  if (caller.role === 'admin') return
  throw new Problem('forbidden', {
    detail: `Only an operator with the role admin may ${act}; this key has the role ${caller.role}.`,
  })
}

/** The operators of one project. */
export const operatorOf = (projectId: string): Caller => ({ ...operator, projectId, projects: [projectId] })
