import { restHandler } from '@a2a-js/sdk/server/express'
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
import { checkEnvelope } from './envelope.ts'
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
    const projectId = project === defaultProject ? project : await requireProject(context.db, project)
    const agent = await requireVisible(context, req, projectId, handle)
    if (agent.access === 'private') res.setHeader('Cache-Control', 'private')
    res.locals.agent = agent
    next()
  }
}

/** To all but its project's callers a private agent is as absent as one that does not exist, to the letter (§3.3.2). */
async function requireVisible(
  context: AgentFrontContext,
  req: Request,
  projectId: string,
  handle: string,
): Promise<Agent> {
  try {
    const agent = await requireAgent(context.db, projectId, handle)
    if (agent.access !== 'private') return agent
    const caller = await authenticate(context.db, context.adminKey, bearerKey(req))
    if (caller.projectId === projectId) return agent
  } catch (error) {
    if (!(error instanceof Problem) || !['agent-not-found', 'unauthenticated'].includes(error.code)) throw error
  }
  throw new Problem('agent-not-found', {
    detail: `No agent ${handle}. If it is a private one, send a key of its project: Authorization: Bearer rk_…`,
  })
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
      untilClosed: () => untilClosed(req, res, context.stopping),
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
