import { isInitializeRequest, isJSONRPCRequest, type JSONRPCRequest } from '@modelcontextprotocol/server'
import type { Request, Response } from 'express'
import { Problem } from '../../../errors.ts'
import { mcpLimits } from '../../../limits.ts'
import type { InitializeParams, McpSession } from '../../../mcp-sessions/mcp-session.ts'
import { beginMcpSession, requireMcpSession } from '../../../mcp-sessions/mcp-sessions.ts'
import { answerBatch, requireBatches } from './batch.ts'
import type { McpFrontContext } from './context.ts'
import { type Exchanged, exchange, type Post } from './exchange.ts'
import { fixedResult, initializeResult } from './fixed-results.ts'
import { notificationsIn, wantsProgress } from './messages.ts'
import { sendAnswer } from './send-answer.ts'
import { sessionHeader } from './session-header.ts'
import { isWellPosted } from './well-posted.ts'

/**
 * Answers the POST of a protocol version with sessions, up to 2025-11-25. Errors: `session-not-found` for an unknown session,
 * `invalid-request` without one. Source: MCP 2025-11-25, Transports, Session Management.
 */
export async function answerSessionPost(context: McpFrontContext, post: Post): Promise<void> {
  const { caller, req, res, posted } = post
  const { messages } = posted
  const [first] = messages
  if (messages.length === 1 && isInitializeRequest(first) && isJSONRPCRequest(first))
    return begin(context, post, first as JSONRPCRequest)
  const session = await requireMcpSession(context.mcp.sessions, caller, sessionIdOf(req))
  if (posted.isBatch) requireBatches(session)
  if (!posted.hasRequests) {
    for (const notification of notificationsIn(messages)) context.mcp.inFlight.notify(session.id, notification)
    return void res.status(202).end()
  }
  if (posted.isBatch) return batch(context, post, session)
  const [message] = messages.filter(isJSONRPCRequest)
  await answer(context, post, session, message!)
}

/** Returns the `Mcp-Session-Id` of a request. Errors: `invalid-request`. */
export function sessionIdOf(req: Request): string {
  const id = req.get(sessionHeader)
  if (id) return id
  throw new Problem('invalid-request', {
    field: sessionHeader,
    detail: `${sessionHeader}: begin a session with initialize, and send the header of its answer with every request.`,
  })
}

async function begin(context: McpFrontContext, post: Post, message: JSONRPCRequest): Promise<void> {
  const { caller, req, res } = post
  const initialize = message.params as unknown as InitializeParams
  requireModest(initialize)
  context.shares.spend(caller, 'mcpSessionsPerMinute')
  if (!isWellPosted(req, true)) return serve(context, post, { initialize, session: undefined, message })
  const result = await initializeResult(initialize, caller.identity)
  const protocolVersion = String(result.protocolVersion)
  res.setHeader(sessionHeader, await beginMcpSession(context.mcp.sessions, caller, { protocolVersion, initialize }))
  sendResult(res, message, JSON.stringify(result))
}

function sendResult(res: Response, { id }: JSONRPCRequest, result: string): void {
  res.setHeader('Content-Type', 'application/json')
  res.end(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`)
}

function requireModest(initialize: InitializeParams): void {
  const { max } = mcpLimits.mcpInitialize
  if (Buffer.byteLength(JSON.stringify(initialize)) <= max) return
  throw new Problem('payload-too-large', {
    field: 'params',
    detail: `params: an initialize request has at most ${max} bytes. Send fewer capabilities.`,
    extra: { limit: 'mcpInitialize', max },
  })
}

async function answer(
  context: McpFrontContext,
  post: Post,
  session: McpSession,
  message: JSONRPCRequest,
): Promise<void> {
  const { req, res } = post
  const { initialize } = session
  const isPlain = !wantsProgress([message]) && isWellPosted(req, false)
  const fixed = isPlain ? await fixedResult(message.method, initialize) : undefined
  if (fixed !== undefined) return sendResult(res, message, fixed)
  await serve(context, post, { initialize, session, message })
}

/** Has a server of the SDK answer. */
async function serve(
  context: McpFrontContext,
  post: Post,
  exchanged: Pick<Exchanged, 'initialize' | 'session' | 'message'>,
): Promise<void> {
  const { caller, res } = post
  const { unsent } = context
  const isStreamed = exchanged.session !== undefined && wantsProgress([exchanged.message])
  const sent = await exchange(context, post, { ...exchanged, isStreamed }, async (answered, ends) => {
    await sendAnswer(answered, { res, caller, ...ends, unsent })
    return true
  })
  if (!sent) res.destroy()
}

function batch(context: McpFrontContext, post: Post, session: McpSession): Promise<void> {
  const { initialize } = session
  return answerBatch(context, post, session, (message, inPlace) =>
    exchange(context, post, { initialize, session, message, isStreamed: false, ...inPlace }, (whole) => whole.text()),
  )
}
