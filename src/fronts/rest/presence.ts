import { Router } from 'express'
import { reportPresence } from '../../sessions/sessions.ts'
import { callerOf } from '../auth.ts'
import { onlyMethods } from '../method-not-allowed.ts'
import { parse } from '../validate.ts'
import { presenceInput } from './session-schemas.ts'
import { presenceView } from './session-views.ts'
import type { SessionFrontContext } from './sessions.ts'

/** `/v1/presence`: what the harness of the caller's live session does. Source: S1-8. */
export function presenceRoutes(context: SessionFrontContext): Router {
  const router = Router()
  router.put('/', async (req, res) => {
    const session = await reportPresence(context, callerOf(res), parse(presenceInput, req.body))
    res.json({ sessionId: session.id, ...presenceView(session, context.clock.now()) })
  })
  router.all('/', onlyMethods('PUT'))
  return router
}
