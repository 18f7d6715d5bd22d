import { z } from 'zod'
import { Problem } from '../../errors.ts'
import { refuseToken } from '../../identity/revoke-token.ts'
import { KiB } from '../../limits.ts'
import { proofOfInstance } from '../../security/instance-proof.ts'
import type { OperatorRole, Scope } from '../../words/callers.ts'
import type { RestOperation } from '../access/operation.ts'
import { markPublic } from '../http/public-document.ts'
import { pageRoutes } from '../page/routes.ts'
import { signInRoutes } from '../page/sign-in.ts'
import { readinessOf } from '../readiness.ts'
import { agentKeyRoutes } from './agent-keys.ts'
import { agentRoutes } from './agents/routes.ts'
import { approvalRoutes } from './approvals/routes.ts'
import { auditRoutes } from './audit.ts'
import { catalogRoutes } from './catalog.ts'
import { claimRoutes } from './claims.ts'
import { deliveryRoutes } from './deliveries/routes.ts'
import { discoveryRoutes } from './discovery.ts'
import { eventRoutes } from './events/routes.ts'
import { line } from './fields.ts'
import { followerRoutes } from './followers/routes.ts'
import { inboxRoutes } from './inbox.ts'
import { instant } from './instant.ts'
import { mcpEventRoutes } from './mcp-events/routes.ts'
import { messageRoutes, threadRoutes } from './messages/routes.ts'
import { needRoutes } from './needs/routes.ts'
import { openapiRoutes } from './openapi.ts'
import { operatorKeyRoutes } from './operator-keys.ts'
import { permissionRoutes } from './permissions.ts'
import { projectRoutes } from './projects.ts'
import { protectedResourceRoutes } from './protected-resource.ts'
import { recoveryRoutes } from './recovery/routes.ts'
import { type AnyRoute, type OpenRoute, openRoute, type ParamsOf, type Route, route } from './route.ts'
import { routeTable } from './route-table.ts'
import { sessionRoutes } from './sessions/routes.ts'
import { signInCodeRoutes } from './sign-in-codes.ts'
import { taskRoutes } from './tasks/routes.ts'
import { turnRoutes } from './turns/routes.ts'
import { wakeStreamRoutes } from './wake-stream/routes.ts'
import { wakeSubscriptionRoutes } from './wake-subscriptions/routes.ts'

/** `/v1/whoami`: what a key says about its holder. Every key may ask. */
const whoamiRoutes = [
  route('GET /v1/whoami', {
    name: 'key.whoami',
    what: 'ask whose key it is',
    access: { scope: 'any', operator: 'any', agent: 'own', peer: 'never', audited: 'no' },
    handle: async ({ caller }): Promise<WhoamiView> => {
      const { kind, identity, name, projectId, keyId, scopes, role, projects, expiresAt } = caller
      return {
        kind,
        identity,
        ...(kind === 'operator' ? { name: name ?? null } : {}),
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

const revocation = z
  .strictObject({
    token: line(8 * KiB)
      .min(1)
      .optional(),
    keyId: line(36)
      .regex(/^jwt:[0-9a-f]{32}$/, 'is "jwt:" and 32 hexadecimal digits, as `createdByKey` and the audit show it.')
      .optional(),
    minted: z.boolean().optional(),
  })
  .refine(({ token, keyId }) => token !== undefined || keyId !== undefined, {
    path: ['token'],
    error: 'is required. An admin can send keyId instead.',
  })
  .refine(({ token, keyId }) => token === undefined || keyId === undefined, {
    path: ['keyId'],
    error: 'names a token, as token does. Send only one of the two.',
  })

/** `/v1/tokens/revoke`: refuses an issuer's token before it expires. */
const tokenRoutes = [
  route('POST /v1/tokens/revoke', {
    name: 'token.revoke',
    what: 'revoke a token',
    access: { scope: 'any', operator: 'any', agent: 'own', peer: 'never', audited: 'first', isRevocation: true },
    body: revocation,
    status: 204,
    handle: async ({ caller, body }, context) => refuseToken(context, caller, body, body),
  }),
] as const

/**
 * `/.well-known/rouse-instance?challenge=`: proves to callers that can read the gateway's data directory that this gateway
 * listens at the address that they called. The command line calls it before it sends the admin key that it found there.
 */
const instanceProofRoutes = [
  openRoute('GET /.well-known/rouse-instance', async ({ req, res }, context) => {
    const { challenge } = req.query
    if (typeof challenge !== 'string' || !/^[\w-]{22,64}$/.test(challenge)) {
      throw new Problem('invalid-request', {
        detail: 'challenge: send 22 to 64 random base64url characters.',
        field: 'challenge',
      })
    }
    const { localAddress = '', localPort = 0 } = req.socket
    res.setHeader('Cache-Control', 'no-store')
    return { proof: proofOfInstance(context.instanceKey, { challenge, address: localAddress, port: localPort }) }
  }),
] as const

/**
 * `/healthz`: the process answers. `/readyz`: the store can be read and written, due wakes are claimed and the clock is right, or
 * 503 within about two seconds. The store is tried at most once a second.
 */
const healthRoutes = [
  openRoute('GET /healthz', async () => ({ status: 'ok' as const })),
  openRoute('GET /readyz', async ({ res }, { readiness, stopping }) => {
    const { status, body } = await readinessOf(readiness, stopping)
    res.status(status)
    return body
  }),
] as const

/** `/.well-known/jwks.json`: the public keys that cards are signed with. */
const jwksRoutes = [
  openRoute('GET /.well-known/jwks.json', async ({ res }, { signer }) => {
    markPublic(res, 300)
    return signer.jwks()
  }),
] as const

const routes = [
  ...agentRoutes,
  ...agentKeyRoutes,
  ...whoamiRoutes,
  ...catalogRoutes,
  ...mcpEventRoutes,
  ...wakeSubscriptionRoutes,
  ...deliveryRoutes,
  ...wakeStreamRoutes,
  ...taskRoutes,
  ...messageRoutes,
  ...inboxRoutes,
  ...threadRoutes,
  ...sessionRoutes,
  ...needRoutes,
  ...approvalRoutes,
  ...recoveryRoutes,
  ...turnRoutes,
  ...followerRoutes,
  ...permissionRoutes,
  ...claimRoutes,
  ...projectRoutes,
  ...operatorKeyRoutes,
  ...tokenRoutes,
  ...signInCodeRoutes,
  ...eventRoutes,
  ...auditRoutes,
] as const
const open = [
  ...pageRoutes,
  ...signInRoutes,
  ...healthRoutes,
  ...instanceProofRoutes,
  ...jwksRoutes,
  ...openapiRoutes,
  ...discoveryRoutes,
  ...protectedResourceRoutes,
] as const

/** Every route below `/v1`. All of them take a key. */
export const restTable = routeTable<AnyRoute>(routes)

/** The routes that answer every caller. */
export const openTable = routeTable<OpenRoute>(open)

/** The access to each act over REST: the row of every route below `/v1`. */
export const restOperations: readonly RestOperation[] = routes.map(({ operation }) => operation)

type AnySchema = z.ZodType | undefined
type InputOf<Schema extends AnySchema> = Schema extends z.ZodType ? z.input<Schema> : undefined
type ApiOf<R> =
  R extends Route<infer Name, infer Body, infer Query, infer View>
    ? {
        readonly params: ParamsOf<Name>
        readonly body: InputOf<Body>
        readonly query: InputOf<Query>
        readonly answer: View
      }
    : never

/** The input and the answer of each route below `/v1`. Types only, for clients and tests. */
export type RestApi = { readonly [R in (typeof routes)[number] as R['route']]: ApiOf<R> }

/** The answer of each route that answers every caller. Types only. */
export type OpenAnswers = {
  readonly [R in (typeof open)[number] as R['route']]: R extends OpenRoute<infer View> ? View : never
}

/** Whose key it is, and what it may be used for. */
interface WhoamiView {
  readonly kind: 'agent' | 'operator'
  /** `@donna`, or `@operator`. */
  readonly identity: string
  /** Of an operator: the name of its person; null: its key has none. */
  readonly name?: string | null
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
