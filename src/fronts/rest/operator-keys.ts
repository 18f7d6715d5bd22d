import { z } from 'zod'
import { addOperatorKey, readOperatorKeys, removeOperatorKey } from '../../identity/operator-keys.ts'
import { sizeLimits } from '../../limits.ts'
import type { OperatorKey } from '../../registry/callers/operator-key-store.ts'
import { type OperatorRole, operatorRoleNames } from '../../words/callers.ts'
import { flag, line, oneOf } from './fields.ts'
import { instant, instantOrNull } from './instant.ts'
import { keyTerms, termFields, withOneEnd } from './key-terms.ts'
import { route } from './route.ts'

const newKey = withOneEnd(
  z.strictObject({
    ...termFields,
    role: oneOf(operatorRoleNames),
    approve: z.boolean().optional(),
    projects: z.array(line(40).min(1)).min(1).max(sizeLimits.items.max).optional(),
  }),
)

/** A key of an operator, without the key itself. Instants are ISO 8601. */
export interface OperatorKeyView {
  readonly keyId: string
  readonly label: string | null
  readonly role: OperatorRole
  /** True: it has the scope `approve`, for the person of its label. */
  readonly approve: boolean
  /** null: every project. */
  readonly projects: readonly string[] | null
  readonly expiresAt: string | null
  readonly lastUsedAt: string | null
  readonly createdByKey: string
  readonly createdAt: string
  readonly revokedAt: string | null
}

/** A new key. The key itself is shown only here. */
export interface NewOperatorKeyView {
  readonly keyId: string
  readonly operatorKey: string
  readonly role: OperatorRole
  readonly expiresAt: string | null
}

/** `/v1/operator-keys`: the keys of operators, except the admin key. */
export const operatorKeyRoutes = [
  route('GET /v1/operator-keys', {
    name: 'operatorKey.list',
    what: 'list operator keys',
    access: { scope: 'read', operator: 'admin', agent: 'never', peer: 'never', audited: 'no' },
    handle: async ({ caller }, { db }) => ({
      keys: (await readOperatorKeys(db, caller)).map(operatorKeyView),
    }),
  }),
  route('POST /v1/operator-keys', {
    name: 'operatorKey.make',
    what: 'make operator keys',
    access: { scope: 'mint', operator: 'admin', agent: 'never', peer: 'never', audited: 'first' },
    hasSecret: true,
    body: newKey,
    status: 201,
    handle: async ({ caller, body }, context): Promise<NewOperatorKeyView> => {
      const input = keyTerms(body, context.clock.now())
      const { id: keyId, operatorKey, expiresAt } = await addOperatorKey(context, caller, input)
      return { keyId, operatorKey, role: input.role, expiresAt: instantOrNull(expiresAt) }
    },
  }),
  route('DELETE /v1/operator-keys/:keyId', {
    name: 'operatorKey.revoke',
    what: 'revoke operator keys',
    access: { scope: 'mint', operator: 'admin', agent: 'never', peer: 'never', audited: 'first' },
    query: z.strictObject({ minted: flag.default(false) }),
    status: 204,
    handle: async ({ caller, params, query }, context) => removeOperatorKey(context, caller, params.keyId, query),
  }),
] as const

function operatorKeyView({ id, projects, approves, ...key }: OperatorKey): OperatorKeyView {
  return {
    ...key,
    keyId: id,
    approve: approves,
    projects: projects === null ? null : [...projects],
    expiresAt: instantOrNull(key.expiresAt),
    lastUsedAt: instantOrNull(key.lastUsedAt),
    createdAt: instant(key.createdAt),
    revokedAt: instantOrNull(key.revokedAt),
  }
}
