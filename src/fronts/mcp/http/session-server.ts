import { randomUUID } from 'node:crypto'
import {
  isJSONRPCRequest,
  type JSONRPCMessage,
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  type TransportSendOptions,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import { Problem, toProblem } from '../../../errors.ts'
import { readVersion } from '../../../lib/version.ts'
import { mcpLimits } from '../../../limits.ts'
import type { InitializeParams, McpSession } from '../../../mcp-sessions/mcp-session.ts'
import { setSessionLevel, subscribeToResource } from '../../../mcp-sessions/mcp-sessions.ts'
import type { Caller } from '../../../registry/callers/caller.ts'
import type { CallApi } from '../call-api.ts'
import { createMcpServer } from '../create-mcp-server.ts'
import { sessionCapabilities, wantsWakes } from './capabilities.ts'
import type { McpFrontContext } from './context.ts'

const version = readVersion()

/** A server of the SDK that answers one request of a session, and then is closed. */
interface SessionServer extends AsyncDisposable {
  readonly transport: WebStandardStreamableHTTPServerTransport
}

interface Serving {
  readonly caller: Caller
  /** Calls the gateway's API for the caller. */
  readonly call: CallApi
  readonly initialize: InitializeParams
  /** undefined: the request is `initialize`. */
  readonly session: McpSession | undefined
  readonly message: JSONRPCMessage
  /** Whether the answer is a stream: with JSON, nothing can be said before the result. */
  readonly isStreamed: boolean
}

/**
 * Opens a server for one request of a session. It hears the session's `initialize` first, as if it had answered it itself, so no
 * gateway has to keep a server for each session.
 */
export async function openSessionServer(context: McpFrontContext, serving: Serving): Promise<SessionServer> {
  const { caller, call, initialize, session, message, isStreamed } = serving
  const { identity, projectId: project } = caller
  const capabilities = sessionCapabilities(initialize)
  const server = createMcpServer({
    call,
    identity,
    project,
    version,
    capabilities,
    takesWakes: wantsWakes(initialize),
    request: isJSONRPCRequest(message) ? message : undefined,
  })
  if (session) serveSession(context, server, session)
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: !isStreamed, keepAliveMs: 0 })
  await server.connect(transport)
  if (session) replayInitialize(transport, session)
  return { transport, [Symbol.asyncDispose]: () => server.close() }
}

function replayInitialize(transport: WebStandardStreamableHTTPServerTransport, { id, initialize }: McpSession): void {
  const send = transport.send.bind(transport)
  // No id that a client could give to a request of its own.
  const replayed = randomUUID()
  transport.sessionId = id
  transport.send = async (message: JSONRPCMessage, options?: TransportSendOptions) => {
    if (!('id' in message && message.id === replayed && !('method' in message))) await send(message, options)
  }
  transport.onmessage?.({ jsonrpc: '2.0', id: replayed, method: 'initialize', params: { ...initialize } })
}

/** What a session keeps: it is in the store, so that its stream finds it, wherever that is. */
function serveSession({ mcp }: McpFrontContext, { server }: McpServer, { id }: McpSession): void {
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
  const { max } = mcpLimits.mcpUri
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
    extra: { limit: 'mcpUri', max },
  })
}
