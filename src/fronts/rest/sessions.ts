import { Router } from 'express'
import type { Clock } from '../../lib/clock.ts'
import type { JsonObject } from '../../lib/json.ts'
import { identitiesOf, identityOf } from '../../registry/agents/agents.ts'
import type { Session } from '../../registry/sessions/session.ts'
import type { SessionContext } from '../../sessions/context.ts'
import {
  beatSession,
  closeSession,
  listFormerSessions,
  listVisibleSessions,
  requireSession,
} from '../../sessions/sessions.ts'
import { startSession } from '../../sessions/start.ts'
import { callerOf } from '../auth.ts'
import { onlyMethods } from '../method-not-allowed.ts'
import { parse } from '../validate.ts'
import { beatInput, sessionInput, sessionQuery } from './session-schemas.ts'
import { sessionView } from './session-views.ts'

const limitDefault = 50

export interface SessionFrontContext extends SessionContext {
  readonly clock: Clock
}

/** `/v1/sessions`: start, give a sign of life, end; and who is there. Source: S2-2, S2-20. */
export function sessionRoutes(context: SessionFrontContext): Router {
  const { db, clock } = context
  const router = Router()
  const view = async (session: Session): Promise<JsonObject> =>
    sessionView(session, await identityOf(db, session.agentId), clock.now())

  router.post('/', async (req, res) => {
    const started = await startSession(context, callerOf(res), parse(sessionInput, req.body))
    const { created, ...answer } = started
    res
      .status(created ? 201 : 200)
      .location(`/v1/sessions/${answer.sessionId}`)
      .json(answer)
  })
  router.get('/', async (req, res) => {
    const { status = 'live', limit = limitDefault, pageToken = '' } = parse(sessionQuery, req.query)
    const caller = callerOf(res)
    const found =
      status === 'live'
        ? await listVisibleSessions(db, caller)
        : await listFormerSessions(db, caller, { before: pageToken, limit: limit + 1 })
    const page = status === 'live' ? found : found.slice(0, limit)
    const nextPageToken = found.length > page.length ? page.at(-1)!.id : ''
    const identity = await identitiesOf(
      db,
      page.map(({ agentId }) => agentId),
    )
    const now = clock.now()
    res.json({ sessions: page.map((session) => sessionView(session, identity(session.agentId), now)), nextPageToken })
  })
  router.get('/:id', async (req, res) => {
    res.json(await view(await requireSession(db, callerOf(res), req.params.id)))
  })
  router.put('/:id', async (req, res) => {
    const { presence } = parse(beatInput, req.body)
    res.json(await view(await beatSession(context, callerOf(res), req.params.id, presence)))
  })
  router.delete('/:id', async (req, res) => {
    res.json(await view(await closeSession(context, callerOf(res), req.params.id)))
  })
  router.all('/', onlyMethods('GET', 'POST'))
  router.all('/:id', onlyMethods('GET', 'PUT', 'DELETE'))
  return router
}
