import { restHandler } from '@a2a-js/sdk/server/express'
import express, { type Request, type RequestHandler, type Response, Router } from 'express'
import { Problem } from '../../errors.ts'
import type { Agent } from '../../registry/agent.ts'
import { authenticate, type Caller } from '../../registry/caller.ts'
import { defaultProject } from '../../registry/project-store.ts'
import { bearerKey } from '../auth.ts'
import { untilClosed } from '../sse.ts'
import { sendA2aProblem, tellWhenToRetry } from './answer.ts'
import { A2aCall } from './call.ts'
import { findCalledAgent, requireWelcome } from './called-agent.ts'
import { serveCard } from './cards.ts'
import { checkEnvelope } from './envelope.ts'
import { idempotencyKey } from './idempotency-key.ts'
import { jsonRpcRoute } from './json-rpc.ts'
import { completePushConfig, normaliseRequest } from './leniency.ts'
import { checkParts } from './message-parts.ts'
import { type A2aContext, DurableRequestHandler } from './request-handler.ts'
import { identifyEvents } from './stream-ids.ts'

/** The largest A2A body: files travel inside messages. */
const bodyMax = '16mb'

export interface AgentFrontContext extends A2aContext {
  readonly adminKey: string
  readonly stopping: AbortSignal
  /** Hears of everybody who showed a key: a sign of life. */
  readonly saw: (caller: Caller) => void
}

/**
 * An agent's A2A address: its card, JSON-RPC at the address itself and HTTP+JSON below it, both in v1.0 and v0.3.
 * One pair of routers serves every agent; who is called travels with the call.
 */
export function agentRoutes(context: AgentFrontContext): Router {
  const router = Router({ mergeParams: true })
  const requestHandler = new DurableRequestHandler(context)
  const rpc = jsonRpcRoute(requestHandler, callOfRequest)
  const rest = restHandler({
    requestHandler,
    userBuilder: async (req: Request) => callOfRequest(req),
    legacyCompat: { enabled: true },
  })
  const atAddress: RequestHandler = (req, res, next) => (req.path === '/' ? rpc(req, res, next) : rest(req, res, next))

  router.use(tellWhenToRetry)
  router.use(findCalled(context))
  router.use(normaliseRequest)
  router.get(['/.well-known/agent-card.json', '/.well-known/agent.json'], serveCard(context.cards))
  router.use(admit(context))
  router.use(express.json({ limit: bodyMax, type: ['application/json', 'application/a2a+json'], strict: false }))
  router.use(completePushConfig)
  router.use(checkEnvelope)
  router.use(checkParts)
  router.use(beginCall(context))
  router.use(identifyEvents(callOfRequest))
  router.use(atAddress)
  router.use((req, _res, next) => {
    next(
      new Problem('not-found', {
        detail: `No A2A operation answers ${req.method} ${req.path}. The agent card names the interfaces.`,
      }),
    )
  })
  router.use(sendA2aProblem(context.log))
  return router
}

const calls = new WeakMap<Request, A2aCall>()

function callOfRequest(req: Request): A2aCall {
  const call = calls.get(req)
  if (!call) throw new Error('An A2A request reached the SDK without its call.')
  return call
}

/** Finds the agent that the path names. */
function findCalled(context: AgentFrontContext): RequestHandler {
  return async (req, res, next) => {
    const { project = defaultProject, handle = '' } = req.params as { project?: string; handle?: string }
    const agent = await findCalledAgent(context.db, { project, handle }, () =>
      authenticate(context.db, context.adminKey, bearerKey(req)),
    )
    if (agent.access === 'private') res.setHeader('Cache-Control', 'private')
    res.locals.agent = agent
    next()
  }
}

/** Sending takes a key, and for all but public agents one of the same project. */
function admit(context: AgentFrontContext): RequestHandler {
  return async (req, res, next) => {
    const caller = await authenticate(context.db, context.adminKey, bearerKey(req))
    context.saw(caller)
    res.locals.caller = await requireWelcome(context.db, caller, calledAgent(res))
    next()
  }
}

function beginCall(context: AgentFrontContext): RequestHandler {
  return (req, res, next) => {
    const lastEventId = req.get('last-event-id')
    const call = new A2aCall({
      caller: res.locals.caller as Caller,
      agent: calledAgent(res),
      untilClosed: () => untilClosed(req, res, context.stopping),
      idempotencyKey: idempotencyKey(req.get('idempotency-key')),
      lastEventId: lastEventId && /^\d{1,15}$/.test(lastEventId) ? Number(lastEventId) : undefined,
    })
    calls.set(req, call)
    next()
  }
}

function calledAgent(res: Response): Agent {
  return res.locals.agent as Agent
}
