import { isLegacyRequest, SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/server'
import { type Request, type RequestHandler, type Response, Router } from 'express'
import { Problem } from '../../../errors.ts'
import { endMcpSession } from '../../../mcp-sessions/mcp-sessions.ts'
import { authorise } from '../../access/authorise.ts'
import { recordRest } from '../../access/rest-access.ts'
import { callerOf, requireKey } from '../../auth.ts'
import { takeShare } from '../../door.ts'
import { jsonBody } from '../../json-body.ts'
import { requireRead } from '../../unsent-answers.ts'
import type { McpFrontContext } from './context.ts'
import { answerListenPost } from './listen-post.ts'
import { mcpTable } from './mcp-table.ts'
import { postedIn } from './messages.ts'
import { refusePages } from './origin.ts'
import { paramsFlaw } from './params-flaw.ts'
import { rpcProblemHandler } from './rpc-problem.ts'
import { answerSessionPost, sessionHeader, sessionIdOf } from './session-post.ts'
import { streamSession } from './session-stream.ts'
import { webRequest } from './web-request.ts'

/**
 * `/mcp`: MCP over Streamable HTTP, in both eras of the protocol: sessions up to 2025-11-25, none from 2026-07-28. As everywhere, a
 * request without a valid key is refused before its body is read.
 */
export function mcpRoutes(context: McpFrontContext): Router {
  const { shares, unsent, log, failedTries, mcp } = context
  const router = Router()
  const path = '/'
  router.use(path, onlyHere)
  router.use(path, recordRest(context, mcpTable))
  router.use(
    path,
    refusePages(() => mcp.ownNames),
    requireKey(context),
    requireRead(unsent),
    takeShare(shares),
    allow,
  )
  router.post(path, jsonBody(), (req: Request, res: Response) => answerPost(context, req, res))
  router.get(path, (req, res) => answerGet(context, req, res))
  router.delete(path, async (req, res) => {
    requireKnownVersion(req)
    await endMcpSession(mcp.sessions, callerOf(res), sessionIdOf(req))
    res.status(200).end()
  })
  router.all(path, refuseMethod)
  router.use(rpcProblemHandler(log, failedTries))
  return router
}

/** A longer path has no route. */
const onlyHere: RequestHandler = (req, _res, next) => (req.path === '/' ? next() : next('router'))

const allow: RequestHandler = (req, res, next) => {
  // A stream has no head.
  if (req.method === 'HEAD') return refuseMethod(req, res, next)
  const match = mcpTable.match(req.method, req.baseUrl)
  if (match) authorise(match.route.operation, callerOf(res))
  next()
}

async function answerPost(context: McpFrontContext, req: Request, res: Response): Promise<void> {
  const post = { caller: callerOf(res), address: addressOf(context, req), req, res, posted: postedIn(req.body) }
  const { messages, isBatch } = post.posted
  const flaw = isBatch ? undefined : paramsFlaw(messages[0])
  if (flaw) return void res.json(flaw)
  const isLegacy = await isLegacyRequest(webRequest(req, new AbortController().signal), req.body)
  return isLegacy ? answerSessionPost(context, post) : answerListenPost(context, post)
}

async function answerGet(context: McpFrontContext, req: Request, res: Response): Promise<void> {
  const isModern = req.get(sessionHeader) === undefined && (req.get('mcp-protocol-version') ?? '') >= '2026'
  // Express answers HEAD as GET; a stream without a body would only take the place of the real one.
  if (isModern || req.method === 'HEAD') return refuseMethod(req, res, () => {}) as undefined
  requireKnownVersion(req)
  await streamSession(context, callerOf(res), { req, res })
}

/** Errors: `invalid-request`. Source: MCP 2025-11-25, Transports, Protocol Version Header. */
function requireKnownVersion(req: Request): void {
  const version = req.get('mcp-protocol-version')
  if (version === undefined || SUPPORTED_PROTOCOL_VERSIONS.includes(version)) return
  throw new Problem('invalid-request', {
    field: 'Mcp-Protocol-Version',
    detail: `Mcp-Protocol-Version: sessions are for ${SUPPORTED_PROTOCOL_VERSIONS.join(', ')}. Send the version that initialize has answered.`,
  })
}

const refuseMethod = (req: Request, res: Response, _next: () => void): never => {
  res.setHeader('Allow', 'GET, POST, DELETE')
  throw new Problem('method-not-allowed', {
    detail: `/mcp does not support ${req.method} here. Send messages with POST.`,
  })
}

function addressOf({ clientAddress }: McpFrontContext, req: Request): string {
  return clientAddress(req.socket.remoteAddress, req.get('x-forwarded-for'))
}
