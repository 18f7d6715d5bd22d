import { isInitializeRequest, type JSONRPCRequest } from '@modelcontextprotocol/server'
import type { Request, Response } from 'express'
import { Problem } from '../../../errors.ts'
import { mcpLimits } from '../../../limits.ts'
import type { InitializeParams, McpSession } from '../../../mcp-sessions/mcp-session.ts'
import { beginMcpSession, requireMcpSession } from '../../../mcp-sessions/mcp-sessions.ts'
import type { Caller } from '../../../registry/callers/caller.ts'
import { surfaceOfName } from '../surface-of-name.ts'
import { callUntilSent } from './call-until-sent.ts'
import type { McpFrontContext } from './context.ts'
import { notificationsIn, type Posted, wantsProgress } from './messages.ts'
import { sendAnswer } from './send-answer.ts'
import { openSessionServer } from './session-server.ts'
import { untilGone } from './until-gone.ts'
import { webRequest } from './web-request.ts'

/** One POST of a caller. */
export interface Post {
  readonly caller: Caller
  /** Of the client. */
  readonly address: string
  readonly req: Request
  readonly res: Response
  readonly posted: Posted
}

export const sessionHeader = 'Mcp-Session-Id'

/**
 * Answers the POST of a protocol version with sessions, up to 2025-11-25. Errors: `session-not-found` for an unknown session,
 * `invalid-request` without one. Source: MCP 2025-11-25, Transports, Session Management.
 */
export async function answerSessionPost(context: McpFrontContext, post: Post): Promise<void> {
  const { caller, req, res, posted } = post
  const first = posted.messages[0]
  if (posted.messages.length === 1 && isInitializeRequest(first)) return begin(context, post, first as JSONRPCRequest)
  const session = await requireMcpSession(context.mcp.sessions, caller, sessionIdOf(req))
  if (posted.hasRequests) return answer(context, post, session)
  for (const notification of notificationsIn(posted.messages)) context.mcp.inFlight.notify(session.id, notification)
  res.status(202).end()
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

async function begin(context: McpFrontContext, post: Post, { params }: JSONRPCRequest): Promise<void> {
  const { caller, res } = post
  const initialize = params as unknown as InitializeParams
  requireModest(initialize)
  const answered = await exchange(context, post, { initialize, session: undefined, isStreamed: false })
  if (!answered) return
  const { result } = (await answered.clone().json()) as { result?: { protocolVersion: string } }
  if (result) {
    const { protocolVersion } = result
    res.setHeader(sessionHeader, await beginMcpSession(context.mcp.sessions, caller, { protocolVersion, initialize }))
  }
  await sendAnswer(answered, { res, caller, held: { signal: never }, signal: never, unsent: context.unsent })
}

/** An answer that is there as a whole. */
const never = new AbortController().signal

function requireModest(initialize: InitializeParams): void {
  const { max } = mcpLimits.mcpInitialize
  if (Buffer.byteLength(JSON.stringify(initialize)) <= max) return
  throw new Problem('payload-too-large', {
    field: 'params',
    detail: `params: an initialize request has at most ${max} bytes. Send fewer capabilities.`,
    extra: { limit: 'mcpInitialize', max },
  })
}

interface Exchanged {
  readonly initialize: InitializeParams
  readonly session: McpSession | undefined
  readonly isStreamed: boolean
}

async function answer(context: McpFrontContext, post: Post, session: McpSession): Promise<void> {
  const { initialize } = session
  await exchange(context, post, { initialize, session, isStreamed: wantsProgress(post.posted.messages) })
}

/**
 * Has a server answer. The exchange ends with its client: what it carried could not be fetched any more. Returns the answer to
 * `initialize`; every other one is sent.
 */
async function exchange(
  context: McpFrontContext,
  post: Post,
  exchanged: Exchanged,
): Promise<globalThis.Response | undefined> {
  const { caller, address, req, res } = post
  using held = context.openCalls.hold(caller, 'blockingCalls')
  const signal = untilGone(context.clock, res, held.signal)
  const call = callUntilSent(
    context.callApi({ caller, address, surface: surfaceOfName(nameOfClient(exchanged.initialize)) }),
    res,
  )
  await using server = await openSessionServer(context, { caller, call, ...exchanged })
  const { transport } = server
  using _flight =
    exchanged.session &&
    context.mcp.inFlight.add(exchanged.session.id, { notify: (message) => transport.onmessage?.(message) })
  const answered = await orAborted(transport.handleRequest(webRequest(req, signal), { parsedBody: req.body }), signal)
  if (!answered) return void res.destroy()
  if (!exchanged.session) return answered
  await sendAnswer(answered, { res, caller, held, signal, unsent: context.unsent })
  return undefined
}

function nameOfClient({ clientInfo }: InitializeParams): string {
  return String(clientInfo?.name ?? '')
}

/** Resolves with undefined as soon as the signal aborts. */
function orAborted<Value>(value: Promise<Value>, signal: AbortSignal): Promise<Value | undefined> {
  if (signal.aborted) return Promise.resolve(undefined)
  return new Promise((resolve, reject) => {
    const stop = (): void => resolve(undefined)
    signal.addEventListener('abort', stop, { once: true })
    value.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}
