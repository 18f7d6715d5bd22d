import type { OperatorRole, Scope } from '../../words/callers.ts'
import { instant } from './instant.ts'
import { route } from './route.ts'

/** Whose key it is, and what it may be used for. */
export interface WhoamiView {
  readonly kind: 'agent' | 'operator'
  /** `@donna`, or `@operator`. */
  readonly identity: string
  /** The project in which the caller acts. */
  readonly project: string
  /** The id of the key; `admin` for the admin key. Never the key. */
  readonly keyId: string
  readonly scopes: readonly Scope[]
  /** Of an operator. */
  readonly role?: OperatorRole
  /** The projects of an operator that does not have all of them. */
  readonly projects?: readonly string[]
  readonly expiresAt?: string
}

/** `/v1/whoami`: what a key says about its holder. Every key may ask. */
export const whoamiRoutes = [
  route('GET /v1/whoami', {
    name: 'key.whoami',
    what: 'ask whose key it is',
    access: { scope: 'any', operator: 'any', agent: 'own', peer: 'never', audited: 'no' },
    handle: async ({ caller }): Promise<WhoamiView> => {
      const { kind, identity, projectId, keyId, scopes, role, projects, expiresAt } = caller
      return {
        kind,
        identity,
        project: projectId,
        keyId,
        scopes,
        ...(role === undefined ? {} : { role }),
        ...(projects === undefined ? {} : { projects }),
        ...(expiresAt === undefined ? {} : { expiresAt: instant(expiresAt) }),
      }
    },
  }),
] as const
