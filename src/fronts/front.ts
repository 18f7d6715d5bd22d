import express, { type Express } from 'express'
import type { CardSigner } from '../agent-card/signing.ts'
import type { HandOffContext } from '../claims/hand-off.ts'
import { Problem } from '../errors.ts'
import type { HandOutContext } from '../mailbox/hand-out.ts'
import type { MailContext } from '../mailbox/send.ts'
import type { SubscriptionContext } from '../wakes/subscriptions.ts'
import { type AgentFrontContext, agentRoutes } from './a2a/agent-routes.ts'
import { catalogRoutes, jwksRoutes } from './a2a/cards.ts'
import { requireKey } from './auth.ts'
import { jsonBody } from './json-body.ts'
import { pendingSignals } from './pending-signals.ts'
import { notFound, problemHandler } from './problem.ts'
import { agentRoutes as agentAdministration } from './rest/agents.ts'
import { claimRoutes } from './rest/claims.ts'
import { eventRoutes } from './rest/events.ts'
import { healthRoutes } from './rest/health.ts'
import { inboxRoutes } from './rest/inbox.ts'
import { messageRoutes } from './rest/messages.ts'
import { permissionRoutes } from './rest/permissions.ts'
import { presenceRoutes } from './rest/presence.ts'
import { projectRoutes } from './rest/projects.ts'
import { type SessionFrontContext, sessionRoutes } from './rest/sessions.ts'
import { taskRoutes } from './rest/tasks.ts'
import { threadRoutes } from './rest/threads.ts'
import { wakeSubscriptionRoutes } from './rest/wake-subscriptions.ts'
import { requireOwnSession } from './session-header.ts'

export interface FrontContext extends AgentFrontContext {
  readonly signer: CardSigner
  readonly subscriptions: SubscriptionContext
  readonly mail: MailContext & HandOutContext
  readonly claims: HandOffContext
  readonly sessions: SessionFrontContext
  readonly isReady: () => boolean
}

/** Everything that answers HTTP: A2A for peers, REST for harnesses and operators. */
export function createFront(context: FrontContext): Express {
  const { db, log } = context
  const app = express()
  app.disable('x-powered-by')
  app.set('etag', false)
  app.set('query parser', 'simple')
  app.use(healthRoutes(context))
  app.use(jwksRoutes(context.signer))

  const a2a = agentRoutes(context)
  app.get('/agents/.well-known/{*file}', () => {
    throw new Problem('not-found', {
      detail: 'A card belongs to one agent: give clients its address with a slash at the end, e.g. /agents/donna/.',
    })
  })
  app.use('/agents/:handle', a2a)
  app.use('/projects/:project/agents/:handle', a2a)

  // The key before the body: nobody without one makes the gateway parse anything.
  app.use('/v1', requireKey(context), requireOwnSession(db), jsonBody(), pendingSignals(context.mail, log))
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
  app.use('/v1/projects', projectRoutes(context))
  app.use('/v1/claims', claimRoutes({ ...context.claims, clock: context.clock }))
  app.use('/v1/events', eventRoutes(context))
  app.use(notFound)
  app.use(problemHandler(log))
  return app
}
