import { z } from 'zod'
import { addApiKey, removeApiKey } from '../../identity/api-keys.ts'
import { requireAgent } from '../../registry/agents/agents.ts'
import { type ApiKey, listApiKeys } from '../../registry/callers/api-key-store.ts'
import { requireSelf } from '../../registry/callers/caller.ts'
import { agentScopes, type Scope } from '../../words/callers.ts'
import { flag, oneOf } from './fields.ts'
import { instant, instantOrNull } from './instant.ts'
import { keyTerms, termFields, withOneEnd } from './key-terms.ts'
import { listMax, pageFields, pageOf } from './page.ts'
import { route } from './route.ts'

const newKey = withOneEnd(
  z.strictObject({ ...termFields, scopes: z.array(oneOf(agentScopes)).min(1).max(agentScopes.length).optional() }),
)

/** A key of an agent, without the key itself. Instants are ISO 8601. */
export interface ApiKeyView {
  readonly keyId: string
  readonly label: string | null
  readonly scopes: readonly Scope[]
  /** null: never. */
  readonly expiresAt: string | null
  readonly lastUsedAt: string | null
  readonly createdBy: string | null
  readonly createdByKey: string | null
  readonly createdAt: string
  readonly revokedAt: string | null
}

/** A new key. The key itself is shown only here. */
export interface NewApiKeyView {
  readonly keyId: string
  readonly apiKey: string
  readonly scopes: readonly Scope[]
  readonly expiresAt: string | null
}

/** `/v1/agents/{handle}/keys` */
export const agentKeyRoutes = [
  route('GET /v1/agents/:handle/keys', {
    name: 'key.list',
    what: 'list keys',
    access: { scope: 'read', operator: 'any', agent: 'own', peer: 'never', audited: 'no', isRevocation: true },
    query: z.object(pageFields),
    handle: async ({ caller, params, query }, { db }) => {
      const agent = await requireAgent(db, caller.projectId, params.handle)
      requireSelf(caller, agent.id, 'list its keys')
      const { limit = listMax, pageToken = '' } = query
      const found = await listApiKeys(db, agent.id, pageToken, limit + 1)
      const { items, nextPageToken } = pageOf(found, limit, ({ keyId }) => keyId)
      return { keys: items.map(apiKeyView), nextPageToken }
    },
  }),
  route('POST /v1/agents/:handle/keys', {
    name: 'key.make',
    what: 'make keys',
    access: { scope: 'mint', operator: 'any', agent: 'own', peer: 'never', audited: 'first' },
    hasSecret: true,
    rate: 'startsPerHour',
    body: newKey,
    status: 201,
    handle: async ({ caller, params, body, reply }, context): Promise<NewApiKeyView> => {
      const made = await addApiKey(context, caller, params.handle, keyTerms(body, context.clock.now()))
      reply.target = `${params.handle} ${made.keyId}`
      return { ...made, expiresAt: instantOrNull(made.expiresAt) }
    },
  }),
  route('DELETE /v1/agents/:handle/keys/:keyId', {
    name: 'key.revoke',
    what: 'revoke keys',
    access: { scope: 'any', operator: 'any', agent: 'own', peer: 'never', audited: 'first', isRevocation: true },
    query: z.strictObject({ minted: flag.default(false), keep: flag.default(false) }),
    status: 204,
    handle: async ({ caller, params, query }, context) =>
      removeApiKey(context, caller, params.handle, params.keyId, query),
  }),
] as const

function apiKeyView({ scopes, ...key }: ApiKey): ApiKeyView {
  return {
    ...key,
    scopes: [...scopes],
    expiresAt: instantOrNull(key.expiresAt),
    lastUsedAt: instantOrNull(key.lastUsedAt),
    createdAt: instant(key.createdAt),
    revokedAt: instantOrNull(key.revokedAt),
  }
}
