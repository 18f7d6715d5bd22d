import type { JSONRPCMessage, JSONRPCNotification } from '@modelcontextprotocol/server'
import type { Response as ExpressResponse, Request } from 'express'
import type { OpenCall } from '../../../identity/open-calls.ts'
import type { InitializeParams, McpSession } from '../../../mcp-sessions/mcp-session.ts'
import type { Caller } from '../../../registry/callers/caller.ts'
import type { Bulk } from '../../../registry/shares/large-spacing.ts'
import { surfaceOfName } from '../../../words/surfaces.ts'
import { leaveDoor, placeOf } from '../../door.ts'
import { untilGone } from '../../until-gone.ts'
import { callUntilSent } from './call-until-sent.ts'
import type { McpFrontContext } from './context.ts'
import type { Posted } from './messages.ts'
import { openSessionServer } from './session-server.ts'
import { webRequest } from './web-request.ts'

/** One POST of a caller. */
export interface Post {
  readonly caller: Caller
  /** Of the client. */
  readonly address: string
  readonly req: Request
  readonly res: ExpressResponse
  readonly posted: Posted
}

export interface Exchanged {
  readonly initialize: InitializeParams
  /** undefined: the message is `initialize`. */
  readonly session: McpSession | undefined
  readonly message: JSONRPCMessage
  readonly isStreamed: boolean
  /** Frees the place of the message when it begins to wait. Absent: that of the POST. */
  readonly waits?: () => void
  /** Its place among the requests that are processed. Absent: that of the POST. */
  readonly place?: Bulk['place']
}

/** What ends an exchange. */
interface Ends {
  readonly openCall: OpenCall
  /** Aborts when the client is gone, or its key has ended. */
  readonly signal: AbortSignal
}

/**
 * Lets a server answer one message, and passes the answer on. The exchange ends when its client disconnects, because a later request could
 * not fetch the answer. It keeps its place among the requests of its caller until it is over or has to wait. undefined: the client is gone,
 * or its key has ended.
 */
export async function exchange<Sent>(
  context: McpFrontContext,
  post: Post,
  { message, initialize, session, isStreamed, waits = () => leaveDoor(post.res), place = placeOf(post.res) }: Exchanged,
  send: (answer: globalThis.Response, ends: Ends) => Promise<Sent>,
): Promise<Sent | undefined> {
  const { caller, address, req, res } = post
  using openCall = context.openCalls.open(caller)
  const signal = untilGone(res, openCall.signal)
  const surface = surfaceOfName(String(initialize.clientInfo?.name ?? ''))
  const call = callUntilSent(context.callApi({ caller, address, surface, waits, place }), res)
  await using server = await openSessionServer(context, { caller, call, initialize, session, message, isStreamed })
  const { transport } = server
  const cancelled = new AbortController()
  const notify = (notification: JSONRPCNotification): void => {
    transport.onmessage?.(notification)
    cancelled.abort()
  }
  using _flight =
    session && context.mcp.inFlight.add(session.id, { id: 'id' in message ? message.id : undefined, notify })
  const ended = AbortSignal.any([signal, cancelled.signal])
  const answered = await orAborted(transport.handleRequest(webRequest(req, signal), { parsedBody: message }), ended)
  if (answered) return await send(answered, { openCall, signal: ended })
  return signal.aborted ? undefined : await send(cancelledAnswer(message), { openCall, signal })
}

/** Clients ignore the answer to what they have cancelled, but the POST has to end. Source: MCP 2025-11-25, Cancellation. */
function cancelledAnswer(message: JSONRPCMessage): globalThis.Response {
  const id = 'id' in message ? message.id : null
  return Response.json({
    jsonrpc: '2.0',
    id,
    error: { code: -32000, message: 'The client has cancelled the request.' },
  })
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
