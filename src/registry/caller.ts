import { Problem } from '../errors.ts'
import { hashSecret, secretsEqual } from '../security/secret.ts'
import type { Reader } from '../storage/database.ts'
import { identityIn } from './agent.ts'
import { findKeyHolder } from './api-key-store.ts'
import { defaultProject } from './project-store.ts'

/** Who makes a request, as its key proves. Everything that is read or changed is scoped to it first. */
export interface Caller {
  readonly kind: 'operator' | 'agent'
  /** The agent's id, or `operator`. */
  readonly id: string
  /** `@donna`, or `@operator`. */
  readonly identity: string
  readonly projectId: string
}

export const operator: Caller = { kind: 'operator', id: 'operator', identity: '@operator', projectId: defaultProject }

/** The caller behind a bearer key. Throws `unauthenticated`, the same for an unknown, a revoked and a malformed key. */
export async function authenticate(db: Reader, adminKey: string, key: string | undefined): Promise<Caller> {
  if (key) {
    if (secretsEqual(key, adminKey)) return operator
    const holder = await findKeyHolder(db, hashSecret(key))
    if (holder) return { kind: 'agent', id: holder.agentId, identity: holder.handle, projectId: holder.projectId }
  }
  throw new Problem('unauthenticated', {
    detail: key
      ? 'The API key is unknown or revoked. An operator makes a new one with `rouse agent key add <handle>`.'
      : 'Send the header `Authorization: Bearer rk_…` with the key that registering the agent returned.',
  })
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
