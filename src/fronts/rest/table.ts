import type { z } from 'zod'
import type { RestOperation } from '../access/operation.ts'
import { agentKeyRoutes } from './agent-keys.ts'
import { agentRoutes } from './agents/routes.ts'
import { auditRoutes } from './audit.ts'
import { catalogRoutes } from './catalog.ts'
import { claimRoutes } from './claims.ts'
import { eventRoutes } from './events/routes.ts'
import { healthRoutes } from './health.ts'
import { inboxRoutes } from './inbox.ts'
import { instanceProofRoutes } from './instance-proof.ts'
import { jwksRoutes } from './jwks.ts'
import { messageRoutes, threadRoutes } from './messages/routes.ts'
import { operatorKeyRoutes } from './operator-keys.ts'
import { permissionRoutes } from './permissions.ts'
import { projectRoutes } from './projects.ts'
import type { AnyRoute, OpenRoute, ParamsOf, Route } from './route.ts'
import { routeTable } from './route-table.ts'
import { sessionRoutes } from './sessions/routes.ts'
import { taskRoutes } from './tasks/routes.ts'
import { tokenRoutes } from './tokens.ts'
import { wakeStreamRoutes } from './wake-stream/routes.ts'
import { wakeSubscriptionRoutes } from './wake-subscriptions/routes.ts'
import { whoamiRoutes } from './whoami.ts'

const routes = [
  ...agentRoutes,
  ...agentKeyRoutes,
  ...whoamiRoutes,
  ...catalogRoutes,
  ...wakeSubscriptionRoutes,
  ...wakeStreamRoutes,
  ...taskRoutes,
  ...messageRoutes,
  ...inboxRoutes,
  ...threadRoutes,
  ...sessionRoutes,
  ...permissionRoutes,
  ...claimRoutes,
  ...projectRoutes,
  ...operatorKeyRoutes,
  ...tokenRoutes,
  ...eventRoutes,
  ...auditRoutes,
] as const
const open = [...healthRoutes, ...instanceProofRoutes, ...jwksRoutes] as const

/** What the handlers of these routes take from the context of the front. */
type ContextOf<R> = (
  R extends { handle: (call: never, context: infer C) => unknown }
    ? (context: C) => void
    : never
) extends (context: infer All) => void
  ? All
  : never

/** What the handlers need together. */
export type RestContext = ContextOf<(typeof routes)[number]>
type OpenContext = ContextOf<(typeof open)[number]>

/** Every route below `/v1`. All of them take a key. */
export const restTable = routeTable<AnyRoute<RestContext>>(routes)

/** The routes that answer every caller. */
export const openTable = routeTable<OpenRoute<OpenContext>>(open)

/** Who may do what over REST: the row of every route below `/v1`. */
export const restOperations: readonly RestOperation[] = routes.map(({ operation }) => operation)

type AnySchema = z.ZodType | undefined
type InputOf<Schema extends AnySchema> = Schema extends z.ZodType ? z.input<Schema> : undefined
type ApiOf<R> =
  R extends Route<infer Name, never, infer Body, infer Query, infer View>
    ? {
        readonly params: ParamsOf<Name>
        readonly body: InputOf<Body>
        readonly query: InputOf<Query>
        readonly answer: View
      }
    : never

/** The input and the answer of each route below `/v1`. Types only, for clients and tests. */
export type RestApi = { readonly [R in (typeof routes)[number] as R['route']]: ApiOf<R> }
