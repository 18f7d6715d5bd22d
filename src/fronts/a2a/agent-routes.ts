import { jsonRpcHandler, restHandler } from '@a2a-js/sdk/server/express'
import express, { type Request, type RequestHandler, type Response, Router } from 'express'
import { Problem } from '../../errors.ts'
import type { Agent } from '../../registry/agent.ts'
import { requireAgent } from '../../registry/agents.ts'
import { authenticate, type Caller } from '../../registry/caller.ts'
import { defaultProject, requireProject } from '../../registry/project-store.ts'
import { bearerKey } from '../auth.ts'
import { untilClosed } from '../sse.ts'
import { sendA2aProblem } from './answer.ts'
import { A2aCall } from './call.ts'
import { serveCard } from './cards.ts'
import { checkEnvelope, completePushConfig, normaliseRequest } from './leniency.ts'
import { type A2aContext, DurableRequestHandler } from './request-handler.ts'
import { identifyEvents } from './stream-ids.ts'

/** The largest A2A body: files travel inside messages. */
const bodyMax = '16mb'

export interface AgentFrontContext extends A2aContext {
  readonly adminKey: string
  readonly stopping: AbortSignal
}

/**
 * An agent's A2A address: its card, JSON-RPC at the address itself and HTTP+JSON below it, both in v1.0 and v0.3.
 * One pair of SDK routers serves every agent; who is called travels with the call.
 */
export function agentRoutes(context: AgentFrontContext): Router {
  const router = Router({ mergeParams: true })
  const options = {
    requestHandler: new DurableRequestHandler(context),
    userBuilder: async (req: Request) => callOfRequest(req),
    legacyCompat: { enabled: true },
  }
  const rpc = jsonRpcHandler(options)
  const rest = restHandler(options)
  const atAddress: RequestHandler = (req, res, next) => (req.path === '/' ? rpc(req, res, next) : rest(req, res, next))

  router.use(findCalled(context))
  router.get(['/.well-known/agent-card.json', '/.well-known/agent.json'], serveCard(context.cards))
  router.use(admit(context))
  router.use(normaliseRequest)
  router.use(express.json({ limit: bodyMax, type: ['application/json', 'application/a2a+json'], strict: false }))
  router.use(completePushConfig)
  router.use(checkEnvelope)
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

/** Finds the agent that the path names. A private one is found by its project's callers only. */
function findCalled(context: AgentFrontContext): RequestHandler {
  return async (req, res, next) => {
    const { project = defaultProject, handle = '' } = req.params as { project?: string; handle?: string }
    const projectId = await requireProject(context.db, project)
    const agent = await requireAgent(context.db, projectId, handle)
    if (agent.access === 'private') {
      const caller = await authenticate(context.db, context.adminKey, bearerKey(req))
      if (caller.projectId !== projectId) throw noSuchAgent(handle)
      res.setHeader('Cache-Control', 'private')
    }
    res.locals.agent = agent
    next()
  }
}

/** Sending takes a key, and for all but public agents one of the same project. */
function admit(context: AgentFrontContext): RequestHandler {
  return async (req, res, next) => {
    const caller = await authenticate(context.db, context.adminKey, bearerKey(req))
    const agent = calledAgent(res)
    if (agent.access !== 'public' && caller.projectId !== agent.projectId) {
      throw new Problem('forbidden', { detail: `${agent.handle} takes messages from its own project only.` })
    }
    res.locals.caller = caller
    next()
  }
}

function beginCall(context: AgentFrontContext): RequestHandler {
  return (req, res, next) => {
    const lastEventId = req.get('last-event-id')
    const call = new A2aCall({
      caller: res.locals.caller as Caller,
      agent: calledAgent(res),
      signal: untilClosed(req, res, context.stopping),
      idempotencyKey: idempotencyKey(req),
      lastEventId: lastEventId && /^\d{1,15}$/.test(lastEventId) ? Number(lastEventId) : undefined,
    })
    calls.set(req, call)
    next()
  }
}

function calledAgent(res: Response): Agent {
  return res.locals.agent as Agent
}

function idempotencyKey(req: Request): string | undefined {
  const key = req.get('idempotency-key')
  if (key === undefined || (key.length >= 1 && key.length <= 255)) return key
  throw new Problem('invalid-request', { field: 'Idempotency-Key', detail: 'Idempotency-Key: 1 to 255 characters.' })
}

function noSuchAgent(handle: string): Problem {
  return new Problem('agent-not-found', { detail: `No agent ${handle}.` })
}
