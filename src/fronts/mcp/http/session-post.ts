import { isJSONRPCNotification, isJSONRPCRequest, type JSONRPCRequest } from '@modelcontextprotocol/server'
import type { Request } from 'express'
import { Problem } from '../../../errors.ts'
import { requireStillValid } from '../../../identity/authenticate.ts'
import { sizeLimits } from '../../../limits.ts'
import type { InitializeParams, McpSession } from '../../../mcp-sessions/mcp-session.ts'
import { beginMcpSession, requireMcpSession } from '../../../mcp-sessions/mcp-sessions.ts'
import { bearerKey } from '../../http/auth.ts'
import { untilGone } from '../../http/until-gone.ts'
import type { McpFrontContext } from './context.ts'
import type { Post } from './posted.ts'
import { rpcError } from './rpc-problem.ts'
import { sendAnswer, sendJson } from './send-answer.ts'
import { answerInSession } from './session-server.ts'

export const sessionHeader = 'Mcp-Session-Id'

/** The last protocol version with batches. */
const batchesUntil = '2025-03-26'

/**
 * Answers the POST of a protocol version with sessions, up to 2025-11-25. Errors: `session-not-found` for an unknown session,
 * `invalid-request` without one. Source: MCP 2025-11-25, Transports, Session Management.
 */
export async function answerSessionPost(context: McpFrontContext, post: Post): Promise<void> {
  const { caller, req, res, messages, isBatch } = post
  const requests = messages.filter(isJSONRPCRequest)
  const [request] = requests
  using openCall = context.openCalls.open(caller, request?.method === 'events/stream' ? 'streams' : undefined)
  const signal = untilGone(res, openCall.signal)
  if (request?.method === 'initialize' && messages.length === 1) return await begin(context, post, request, signal)
  const session = await requireMcpSession(context.mcp.sessions, caller, sessionIdOf(req))
  if (isBatch) requireBatches(session)
  if (request === undefined || isBatch) {
    for (const message of messages.filter(isJSONRPCNotification)) context.mcp.inFlight.hear(session.id, message)
    if (request === undefined) return void res.status(202).end()
    return await answerBatch(context, post, session, requests, signal)
  }
  const { initialize } = session
  await using answered = await answerInSession(context, post, { initialize, session, request, signal })
  if (!answered.response) return void res.destroy()
  await sendAnswer(answered.response, { ...post, openCall, signal: answered.signal, unread: context.admission.unread })
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

async function begin(
  context: McpFrontContext,
  post: Post,
  request: JSONRPCRequest,
  signal: AbortSignal,
): Promise<void> {
  const { caller, res } = post
  const initialize = request.params as unknown as InitializeParams
  requireModest(initialize)
  context.admission.spend(caller, 'heavyPerMinute', 'mcp')
  await using answered = await answerInSession(context, post, { initialize, request, signal })
  if (!answered.response) return void res.destroy()
  const text = await answered.response.text()
  const { result } = JSON.parse(text) as { readonly result?: { readonly protocolVersion: string } }
  if (result) {
    const { protocolVersion } = result
    res.setHeader(sessionHeader, await beginMcpSession(context.mcp.sessions, caller, { protocolVersion, initialize }))
  }
  sendJson(post, answered.response.status, text)
}

function requireModest(initialize: InitializeParams): void {
  const { max } = sizeLimits.description
  if (Buffer.byteLength(JSON.stringify(initialize)) <= max) return
  throw new Problem('payload-too-large', {
    field: 'params',
    detail: `params: an initialize request has at most ${max} bytes. Send fewer capabilities.`,
    extra: { limit: 'description', max },
  })
}

/** Errors: `invalid-request` for a batch in a session of a protocol version that has none. Source: MCP 2025-06-18, Key Changes. */
function requireBatches({ protocolVersion }: McpSession): void {
  if (protocolVersion <= batchesUntil) return
  throw new Problem('invalid-request', {
    detail: `The protocol version ${protocolVersion} has no batches. Send one message in each request.`,
  })
}

/**
 * Answers the requests of a batch one after the other, each of which counts as a request of its caller and has a slot of its own. One that
 * is refused is refused alone. The library would answer all at once, a list of one as no list, and of two with the same id only one.
 */
async function answerBatch(
  context: McpFrontContext,
  post: Post,
  session: McpSession,
  requests: readonly JSONRPCRequest[],
  signal: AbortSignal,
): Promise<void> {
  const { caller, req, res } = post
  const { admission } = context
  const { initialize } = session
  const texts: string[] = []
  const held: (() => void)[] = []
  post.slot.release()
  const answerOf = async (request: JSONRPCRequest): Promise<string | undefined> => {
    // The POST itself counted as the first one.
    const slot = await admission.admit(caller, { requests: texts.length > 0 ? 1 : 0 })
    try {
      if (signal.aborted) return undefined
      requireStillValid(context, caller, bearerKey(req))
      const serving = { initialize, session, request, signal }
      await using answered = await answerInSession(context, { ...post, slot }, serving)
      return await answered.response?.text()
    } finally {
      slot.end()
    }
  }
  try {
    for (const request of requests) {
      const text = await answerOf(request).catch((error: unknown) => refused(error, request))
      if (text === undefined) return void res.destroy()
      held.push(admission.unread.add(caller, text.length))
      texts.push(text)
    }
  } finally {
    for (const forget of held) forget()
  }
  sendJson(post, 200, `[${texts.join(',')}]`)
}

function refused(error: unknown, { id }: JSONRPCRequest): string {
  if (error instanceof Problem && error.status < 500) return JSON.stringify(rpcError(error, '/mcp', id))
  throw error
}
