import { identitiesOf, identityOf } from '../../../registry/agents/identity.ts'
import type { Session } from '../../../registry/sessions/session.ts'
import type { SessionContext } from '../../../sessions/context.ts'
import {
  beatSession,
  closeSession,
  listFormerSessions,
  listVisibleSessions,
  reportPresence,
  requireSession,
} from '../../../sessions/sessions.ts'
import { startSession } from '../../../sessions/start.ts'
import { readRoutes } from '../../../wakes/read/routes.ts'
import { listMax, nextToken } from '../page.ts'
import { route } from '../route.ts'
import { beatInput, endQuery, newSession, presenceInput, sessionQuery } from './input.ts'
import { type PresenceView, presenceView, routesView, type SessionView, sessionView } from './view.ts'

const limitDefaults = { live: listMax, ended: 50 }

/** `/v1/sessions` and `/v1/presence`: start, give a sign of life, end, list. Source: S1-8, S2-2, S2-20. */
export const sessionRoutes = [
  route('GET /v1/sessions', {
    name: 'session.list',
    what: 'list sessions',
    access: { scope: 'read', operator: 'any', agent: 'own', peer: 'never', audited: 'no' },
    query: sessionQuery,
    handle: async ({ caller, query }, { sessions: { db, clock } }) => {
      const { status = 'live', limit = limitDefaults[status], pageToken: before = '' } = query
      const list = status === 'live' ? listVisibleSessions : listFormerSessions
      const { items, more } = await list(db, caller, { before, limit })
      const agentIds = items.map(({ agentId }) => agentId)
      const identity = await identitiesOf(db, agentIds)
      const now = clock.now()
      return {
        sessions: items.map((session) => sessionView(session, identity(session.agentId), now)),
        nextPageToken: nextToken(items, more, ({ id }) => id),
      }
    },
  }),
  route('POST /v1/sessions', {
    name: 'session.start',
    what: 'start a session',
    access: { scope: 'work', operator: 'never', agent: 'own', peer: 'never', audited: 'soon' },
    rate: 'startsPerHour',
    body: newSession,
    status: 201,
    handle: async ({ caller, body, reply }, { sessions }) => {
      const { created, ...answer } = await startSession(sessions, caller, body)
      if (!created) reply.status = 200
      reply.headers.Location = `/v1/sessions/${answer.sessionId}`
      return answer
    },
  }),
  route('GET /v1/sessions/:id', {
    name: 'session.read',
    what: 'read a session',
    access: { scope: 'read', operator: 'any', agent: 'own', peer: 'never', audited: 'no' },
    handle: async ({ caller, params }, { sessions }) => {
      const session = await requireSession(sessions.db, caller, params.id)
      return { ...(await view(sessions, session)), ...routesView(await readRoutes(sessions.db, session)) }
    },
  }),
  route('PUT /v1/sessions/:id', {
    name: 'session.beat',
    what: 'give a sign of life',
    access: { scope: 'work', operator: 'never', agent: 'own', peer: 'never', audited: 'no' },
    body: beatInput,
    handle: async ({ caller, params, body }, { sessions }) =>
      view(sessions, await beatSession(sessions, caller, params.id, body)),
  }),
  route('DELETE /v1/sessions/:id', {
    name: 'session.end',
    what: 'end a session',
    access: { scope: 'work', operator: 'any', agent: 'own', peer: 'never', audited: 'soon' },
    query: endQuery,
    handle: async ({ caller, params, query }, { sessions }) =>
      view(sessions, await closeSession(sessions, caller, params.id, query.by === 'person' ? 'closed' : 'ended')),
  }),
  route('PUT /v1/presence', {
    name: 'presence.report',
    what: 'report presence',
    access: { scope: 'work', operator: 'never', agent: 'own', peer: 'never', audited: 'no' },
    body: presenceInput,
    handle: async ({ caller, body }, { sessions }): Promise<PresenceView & { readonly sessionId: string }> => {
      const { process: named, harness, ...presence } = body
      const owner = named && { pid: named.pid, processStartedAt: named.startedAt }
      const session = await reportPresence(sessions, caller, presence, { owner, harness })
      return { sessionId: session.id, ...presenceView(session, sessions.clock.now()) }
    },
  }),
] as const

async function view({ db, clock }: SessionContext, session: Session): Promise<SessionView> {
  return sessionView(session, await identityOf(db, session.agentId), clock.now())
}
