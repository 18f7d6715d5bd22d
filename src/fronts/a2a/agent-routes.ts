import { restHandler } from '@a2a-js/sdk/server/express'
import { type Request, type RequestHandler, type Response, Router } from 'express'
import { cardVersionFor } from '../../agent-card/card-version.ts'
import type { CardDocuments } from '../../agent-card/documents.ts'
import { authenticate, requireStillValid } from '../../identity/authenticate.ts'
import { Attachment } from '../../lib/attachment.ts'
import type { Agent } from '../../registry/agents/agent.ts'
import type { Caller } from '../../registry/callers/caller.ts'
import { defaultProject } from '../../registry/projects/project-store.ts'
import { authoriseA2a, recordRefusedA2a, refuseOther } from '../access/a2a-access.ts'
import type { FrontContext } from '../front-context.ts'
import { admitRequest } from '../http/admit-request.ts'
import { bearerKey, callerOf } from '../http/auth.ts'
import { parseJson } from '../http/json-body.ts'
import { isUnchanged } from '../http/unchanged.ts'
import { inOrder } from '../in-order.ts'
import { addRetryHeaders, sendA2aProblem } from './answer.ts'
import type { A2aCall } from './call.ts'
import { type AgentAddress, findCalledAgent, requireMayCall, requireOpenAgent } from './called-agent.ts'
import { cardAgent } from './card-agent.ts'
import { checkEnvelope } from './envelope.ts'
import { HttpCall } from './http-call.ts'
import { jsonRpcRoute } from './json-rpc.ts'
import { checkVersionOfPath, completePushConfig, normaliseRequest } from './leniency.ts'
import { checkParts } from './message-parts.ts'
import { DurableRequestHandler } from './request-handler.ts'

/** Long enough to spare a busy gateway, short enough that a changed card is seen (specification §8.6). */
const cardMaxAgeSeconds = 60

/**
 * An agent's A2A address: its card, JSON-RPC at the address itself and HTTP+JSON below it, both in v1.0 and v0.3.
 * The same handlers serve every agent; the called agent travels with the call. Only the cards have a router, and who lists the routes of the
 * app finds them in `stack`: for a call, a router inside of the app's costs more than most of what it would route to.
 */
export function agentRoutes(context: FrontContext): RequestHandler & Pick<Router, 'stack'> {
  const requestHandler = new DurableRequestHandler(context)
  const rpc = jsonRpcRoute(requestHandler, callOfRequest)
  const rest = restHandler({
    requestHandler,
    userBuilder: async (req: Request) => callOfRequest(req),
    legacyCompat: { enabled: true },
  })
  const atAddress: RequestHandler = (req, res, next) => (req.path === '/' ? rpc(req, res, next) : rest(req, res, next))

  const card = Router({ mergeParams: true }).get(
    ['/.well-known/agent-card.json', '/.well-known/agent.json'],
    findCalled(context, (req) => authenticate(context, bearerKey(req))),
    serveCard(context.cards),
  )
  const call = inOrder([
    addRetryHeaders,
    normaliseRequest,
    (req, res, next) => (mayBeCard(req) ? card(req, res, next) : next()),
    identify(context),
    // Counted before the agent is looked for: a caller that names agents that do not exist has no more of the gateway than others.
    admitRequest(context.admission),
    findCalled(context, async (_req, res) => callerOf(res)),
    requireCallable(context),
    parseJson(context, ['application/json', 'application/a2a+json'], false),
    checkVersionOfPath,
    completePushConfig,
    checkEnvelope,
    ...authoriseA2a(),
    checkParts,
    beginCall(context),
    atAddress,
    refuseOther,
  ])
  const record = recordRefusedA2a(context)
  const sendProblem = sendA2aProblem(context)
  const answer: RequestHandler = (req, res, next) => {
    call(req, res, (refused?: unknown) => {
      record(refused, req, res, (error) => {
        Promise.resolve(sendProblem(error, req, res, next)).catch(next)
      })
    })
  }
  return Object.assign(answer, { stack: card.stack })
}

function mayBeCard({ method, path }: Request): boolean {
  return (method === 'GET' || method === 'HEAD') && /^\/\.well-known\//i.test(path)
}

const calls = new Attachment<Request, A2aCall>('call')

function callOfRequest(req: Request): A2aCall {
  const call = calls.get(req)
  if (!call) throw new Error('An A2A request reached the SDK without its call.')
  return call
}

/** Authenticates the caller before anything of the agent is read: a request without a key must not cost large reads. */
function identify(context: FrontContext): RequestHandler {
  return async (req, res, next) => {
    try {
      const caller = await authenticate(context, bearerKey(req))
      context.saw(caller, true)
      res.locals.caller = caller
    } catch (error) {
      // Without a key, a private agent looks as if it did not exist.
      await requireOpenAgent(context.db, addressIn(req))
      throw error
    }
    next()
  }
}

function addressIn(req: Request): AgentAddress {
  const { project = defaultProject, handle = '' } = req.params as { project?: string; handle?: string }
  return { project, handle }
}

/** Finds the agent that the path names. `authenticated` is called only where the answer depends on the caller. */
function findCalled(
  { db }: FrontContext,
  authenticated: (req: Request, res: Response) => Promise<Caller>,
): RequestHandler {
  return async (req, res, next) => {
    const agent = await findCalledAgent(db, addressIn(req), () => authenticated(req, res))
    if (agent.access === 'private') res.setHeader('Cache-Control', 'private')
    res.locals.agent = agent
    next()
  }
}

/** Refuses callers that may not call the agent: it takes a key, and unless the agent is public one of its project. */
function requireCallable(context: FrontContext): RequestHandler {
  return async (_req, res, next) => {
    res.locals.caller = await requireMayCall(context.db, callerOf(res), calledAgent(res))
    next()
  }
}

function beginCall(context: FrontContext): RequestHandler {
  return (req, res, next) => {
    requireStillValid(context, callerOf(res), bearerKey(req))
    const address = context.clientAddress(req.socket.remoteAddress, req.get('x-forwarded-for'))
    const call = new HttpCall(req, res, context, address)
    calls.set(req, call)
    res.locals.call = call
    res.locals.log = context.log
    next()
  }
}

function calledAgent(res: Response): Agent {
  return res.locals.agent as Agent
}

/**
 * The card of the agent that was called, with validators, in the version that `A2A-Version` names, as a header or a parameter. Without it
 * the old path has the card of v0.3, and the other one a card that clients of both versions can read.
 */
function serveCard(cards: CardDocuments): RequestHandler {
  return async (req, res) => {
    const agent = res.locals.agent as Agent
    const requested =
      req.get('a2a-version') ?? (typeof req.query['A2A-Version'] === 'string' ? req.query['A2A-Version'] : undefined)
    const unasked = req.path.endsWith('/agent.json') ? '0.3' : 'both'
    const document = await cards.document(cardAgent(agent), cardVersionFor(requested) ?? unasked)
    res.setHeader('ETag', document.etag)
    res.setHeader('Last-Modified', document.lastModified)
    res.setHeader('Cache-Control', `${agent.access === 'private' ? 'private' : 'public'}, max-age=${cardMaxAgeSeconds}`)
    res.setHeader('Vary', agent.access === 'private' ? 'A2A-Version, Authorization' : 'A2A-Version')
    if (isUnchanged(req, document)) {
      res.status(304).end()
      return
    }
    res.setHeader('Content-Type', document.contentType)
    res.end(document.body)
  }
}
