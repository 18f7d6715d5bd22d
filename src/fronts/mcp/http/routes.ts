import { type Request, type RequestHandler, Router } from 'express'
import type { Admission } from '../../../admission/admission.ts'
import { Problem } from '../../../errors.ts'
import { isLoopbackHost } from '../../../security/url-guard.ts'
import { authorise } from '../../access/authorise.ts'
import { matchOf, recordRest } from '../../access/rest-access.ts'
import { admitRequest } from '../../http/admit-request.ts'
import { actInProject, callerOf, requireKey } from '../../http/auth.ts'
import { jsonBody } from '../../http/json-body.ts'
import { inOrder } from '../../in-order.ts'
import type { McpFrontContext } from './context.ts'
import { mcpTable } from './mcp-table.ts'
import { refuseMethod, rpcProblemHandler } from './rpc-problem.ts'

/**
 * `/mcp`: MCP over Streamable HTTP, in both eras of the protocol: sessions up to 2025-11-25, none from 2026-07-28. As everywhere, a
 * request without a valid key is refused before its body is read. What answers is loaded with the first request that has a key: the
 * library of MCP takes as long as the rest of a gateway's start, and many gateways never use it.
 */
export function mcpRoutes(context: McpFrontContext): Router {
  const { admission, mcp } = context
  const router = Router()
  const path = '/'
  router.use(path, onlyHere)
  router.use(path, recordRest(context, mcpTable))
  router.use(
    path,
    refusePages(() => mcp.ownNames),
    requireKey(context),
    admitRequest(admission),
    actInProject(context),
    requireSessionsLeft(admission),
    allow,
  )
  const post: RequestHandler = async (req, res) => (await answers()).answerPost(context, req, res)
  const get: RequestHandler = async (req, res) => (await answers()).answerGet(context, req, res)
  const end: RequestHandler = async (req, res) => (await answers()).answerDelete(context, req, res)
  router.post(path, inOrder([...jsonBody(context), post]))
  router.get(path, inOrder([get]))
  router.delete(path, inOrder([end]))
  router.all(path, refuseMethod)
  router.use(rpcProblemHandler(context))
  return router
}

/** True when a request can be nothing but one that begins a session: no other comes without these headers. */
const begins = (req: Request): boolean =>
  req.method === 'POST' &&
  req.get('mcp-session-id') === undefined &&
  req.get('mcp-protocol-version') === undefined &&
  req.get('mcp-method') === undefined

/** Refuses a request that begins a session where its agent may begin no more, before its body is read. Errors: `rate-limited`. */
const requireSessionsLeft =
  (admission: Admission): RequestHandler =>
  (req, res, next) => {
    if (begins(req)) admission.requireLeft(callerOf(res), 'heavyPerMinute', 'mcp')
    next()
  }

const answers = () => import('./answers.ts')

/** A longer path has no route. */
const onlyHere: RequestHandler = (req, _res, next) => (req.path === '/' ? next() : next('router'))

const allow: RequestHandler = (req, res, next) => {
  // A stream has no head.
  if (req.method === 'HEAD') return refuseMethod(req, res, next)
  const match = matchOf(res)
  if (match) authorise(match.route.operation, callerOf(res))
  next()
}

/**
 * Refuses requests of web pages, but those of this machine and of the gateway's own address: the answer would be for the page, whose
 * owner the user does not know. The name in `Host` is checked before, for every request. Source: MCP 2025-11-25, Transports,
 * Security Warning.
 */
function refusePages(ownNames: () => ReadonlySet<string>): RequestHandler {
  return (req, _res, next) => {
    const origin = req.get('origin')
    if (origin === undefined || isOwn(origin, ownNames())) return next()
    throw new Problem('forbidden', {
      field: 'Origin',
      detail: 'Origin: web pages of other sites may not use this endpoint. Use a client that sends no Origin.',
    })
  }
}

function isOwn(origin: string, ownNames: ReadonlySet<string>): boolean {
  if (!URL.canParse(origin)) return false
  const { protocol, hostname } = new URL(origin)
  const name = hostname.replace(/^\[|\]$/g, '')
  return /^https?:$/.test(protocol) && (ownNames.has(name) || isLoopbackHost(name))
}
