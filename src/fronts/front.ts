import express, { type Express, type RequestHandler, type Response } from 'express'
import type { CardSigner } from '../agent-card/signing.ts'
import type { HandOffContext } from '../claims/hand-off.ts'
import { Problem, toProblem } from '../errors.ts'
import type { HandOutContext } from '../mailbox/hand-out.ts'
import type { MailContext } from '../mailbox/send.ts'
import type { SubscriptionContext } from '../subscriptions/context.ts'
import { type AgentFrontContext, agentRoutes } from './a2a/agent-routes.ts'
import { answerA2aProblem } from './a2a/answer.ts'
import { catalogRoutes, jwksRoutes } from './a2a/cards.ts'
import { authoriseRest, recordRest } from './access/rest-access.ts'
import { requireKey } from './auth.ts'
import { meterActs, takeShare } from './door.ts'
import { instanceProof } from './instance-proof.ts'
import { jsonBody } from './json-body.ts'
import { pendingSignals } from './pending-signals.ts'
import { notFound, problemHandler, sendProblem } from './problem.ts'
import { agentRoutes as agentAdministration } from './rest/agents.ts'
import { auditRoutes } from './rest/audit.ts'
import { claimRoutes } from './rest/claims.ts'
import { eventRoutes } from './rest/events.ts'
import { healthRoutes } from './rest/health.ts'
import { inboxRoutes } from './rest/inbox.ts'
import { messageRoutes } from './rest/messages.ts'
import { operatorKeyRoutes } from './rest/operator-keys.ts'
import { permissionRoutes } from './rest/permissions.ts'
import { presenceRoutes } from './rest/presence.ts'
import { projectRoutes } from './rest/projects.ts'
import { type SessionFrontContext, sessionRoutes } from './rest/sessions.ts'
import { taskRoutes } from './rest/tasks.ts'
import { threadRoutes } from './rest/threads.ts'
import { tokenRoutes } from './rest/tokens.ts'
import { wakeSubscriptionRoutes } from './rest/wake-subscriptions.ts'
import { requireOwnSession } from './session-header.ts'
import { countAnswers, requireRead } from './unsent-answers.ts'

export interface FrontContext extends AgentFrontContext {
  readonly signer: CardSigner
  readonly subscriptions: SubscriptionContext
  readonly mail: MailContext & HandOutContext
  readonly claims: HandOffContext
  readonly sessions: SessionFrontContext
  readonly instanceKey: string
  readonly isReady: () => boolean
  readonly revoked: (ids: readonly string[]) => void
  /** Tells the dispatcher that a subscription is not what it was. */
  readonly changed: (subscriptionId: string) => void
}

/** No id, name or word of a query holds U+0000: not every store can carry it. */
const refuseUnstorableUrl: RequestHandler = (req, _res, next) => {
  if (!req.url.includes('%00')) return next()
  throw new Problem('invalid-request', { detail: 'The URL holds U+0000 (%00). Take it out.' })
}

/** Everything that answers HTTP: A2A for peers, REST for harnesses and operators. */
export function createFront(context: FrontContext): Express {
  const { db, log } = context
  const app = express()
  app.disable('x-powered-by')
  app.set('etag', false)
  app.set('query parser', 'simple')
  countAnswers(app, context.unsent, refuseAnswer)
  app.use(refuseUnstorableUrl)
  app.use(healthRoutes(context))
  app.use(jwksRoutes(context.signer))
  app.use(instanceProof(context.instanceKey))

  const a2a = agentRoutes(context)
  app.get('/agents/.well-known/{*file}', () => {
    throw new Problem('not-found', {
      detail: 'A card belongs to one agent: give clients its address with a slash at the end, e.g. /agents/donna/.',
    })
  })
  app.use('/agents/:handle', a2a)
  app.use('/projects/:project/agents/:handle', a2a)

  // The key before the body: nobody without one makes the gateway parse anything.
  const { shares } = context
  app.use(
    '/v1',
    recordRest(context),
    requireKey(context),
    requireRead(context.unsent),
    takeShare(shares),
    authoriseRest,
  )
  app.use('/v1', meterActs(shares))
  app.use('/v1', requireOwnSession(db), jsonBody(), pendingSignals(context.mail, log))
  app.use('/v1/agents', agentAdministration(context))
  app.use('/v1/catalog', catalogRoutes(db, context.cards))
  app.use('/v1/wake-subscriptions', wakeSubscriptionRoutes(context.subscriptions))
  app.use('/v1/tasks', taskRoutes(context))
  app.use('/v1/messages', messageRoutes(context.mail))
  app.use('/v1/inbox', inboxRoutes(db))
  app.use('/v1/threads', threadRoutes(db))
  app.use('/v1/sessions', sessionRoutes(context.sessions))
  app.use('/v1/presence', presenceRoutes(context.sessions))
  app.use('/v1/permissions', permissionRoutes(context))
  app.use('/v1/projects', projectRoutes({ ...context, messagesPerMinute: context.mail.limits.perMinute }))
  app.use('/v1/operator-keys', operatorKeyRoutes(context))
  app.use('/v1/tokens', tokenRoutes(context))
  app.use('/v1/claims', claimRoutes({ ...context.claims, clock: context.clock }))
  app.use('/v1/events', eventRoutes(context))
  app.use('/v1/audit', auditRoutes(context))
  app.use(notFound)
  app.use(problemHandler(log, context.failedTries))
  return app
}

/** Refuses an answer for which there is no room, in the form of what was called. */
function refuseAnswer(res: Response, error: unknown): void {
  const problem = toProblem(error)
  if (res.locals.agent === undefined) sendProblem(res, problem, res.req.originalUrl.split('?')[0] ?? '/')
  else answerA2aProblem(res.req, res, problem)
}
