import {
  type JSONRPCRequest,
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import { Problem, toProblem } from '../../../errors.ts'
import { sizeLimits } from '../../../limits.ts'
import type { InitializeParams, McpSession } from '../../../mcp-sessions/mcp-session.ts'
import { setSessionLevel, subscribeToResource } from '../../../mcp-sessions/mcp-sessions.ts'
import { createCallerServer, webRequest } from './caller-server.ts'
import { agreedWakes, sessionCapabilities } from './capabilities.ts'
import type { McpFrontContext } from './context.ts'
import { isStreamed, type Post } from './posted.ts'

interface SessionRequest {
  readonly initialize: InitializeParams
  /** Absent: the request is `initialize`. */
  readonly session?: McpSession
  readonly request: JSONRPCRequest
  /** Aborts when the client is gone, or its key has ended. */
  readonly signal: AbortSignal
}

/** The answer to one request. Disposing it ends the server that gave it. */
interface SessionAnswer extends AsyncDisposable {
  /** undefined: the client is gone, or its key has ended. */
  readonly response: Response | undefined
  /** Aborts when nothing more of the answer may be sent. */
  readonly signal: AbortSignal
}

/**
 * Has a server of the SDK answer one request of a session. It is made for the request, as the SDK serves clients without sessions, so any
 * gateway answers for any session. The exchange ends when its client disconnects: no later request could fetch the answer.
 */
export async function answerInSession(
  context: McpFrontContext,
  post: Post,
  asked: SessionRequest,
): Promise<SessionAnswer> {
  const { initialize, session, request, signal } = asked
  const { req, isBatch } = post
  const server = createCallerServer(context, post, {
    clientName: initialize.clientInfo?.name,
    capabilities: sessionCapabilities(initialize),
    wakes: agreedWakes(initialize),
    request,
  })
  if (session) keepInSession(context, server, session)
  const streams = !isBatch && session !== undefined && isStreamed(req, request)
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: !streams, keepAliveMs: 0 })
  await server.connect(transport)
  const flight = session && context.mcp.inFlight.add(session.id, request.id)
  const ended = flight ? AbortSignal.any([signal, flight.signal]) : signal
  const answered = transport.handleRequest(webRequest(req, signal), { parsedBody: request })
  const response = (await orAborted(answered, ended)) ?? (signal.aborted ? undefined : cancelled(request))
  return {
    response,
    signal: ended,
    async [Symbol.asyncDispose]() {
      flight?.[Symbol.dispose]()
      await server.close()
    },
  }
}

/** Clients ignore the answer to what they have cancelled, but the POST has to end. Source: MCP 2025-11-25, Cancellation. */
function cancelled({ id }: JSONRPCRequest): Response {
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

/** Keeps the level and the resources of a session in its row, so that its stream finds them, on whatever gateway it is. */
function keepInSession({ mcp }: McpFrontContext, { server }: McpServer, { id }: McpSession): void {
  const keep = async (change: () => Promise<void>): Promise<Record<string, never>> => {
    try {
      await change()
    } catch (error) {
      const { status, message } = toProblem(error)
      if (status >= 500) throw error
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, message)
    }
    return {}
  }
  const subscribe = (uri: string, wanted: boolean) =>
    keep(async () => subscribeToResource(mcp.sessions, id, { uri: shortUri(uri), wanted }))
  server.setRequestHandler('logging/setLevel', ({ params }) =>
    keep(() => setSessionLevel(mcp.sessions, id, params.level)),
  )
  server.setRequestHandler('resources/subscribe', ({ params }) => subscribe(params.uri, true))
  server.setRequestHandler('resources/unsubscribe', ({ params }) => subscribe(params.uri, false))
}

function shortUri(uri: string): string {
  const { max } = sizeLimits.url
  if (!uri.startsWith('rouse://')) {
    throw new Problem('invalid-request', {
      field: 'uri',
      detail:
        'uri: begins with rouse://. Send the URI of a resource that resources/list or resources/templates/list names.',
    })
  }
  if (uri.length <= max) return uri
  throw new Problem('invalid-request', {
    field: 'uri',
    detail: `uri: is longer than ${max} characters. Send the URI of a resource that resources/list names.`,
    extra: { limit: 'url', max },
  })
}
