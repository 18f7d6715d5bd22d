import type { JSONRPCRequest, McpServer, ServerCapabilities } from '@modelcontextprotocol/server'
import type { Request as ExpressRequest, Response } from 'express'
import { readVersion } from '../../../lib/version.ts'
import { surfaceOfName } from '../../../words/surfaces.ts'
import { unsentOver } from '../../http/answer-mail.ts'
import type { CallApi } from '../call-api.ts'
import { createMcpServer } from '../create-mcp-server.ts'
import { messageDeclaresTasks } from '../followed/declared.ts'
import { withEvents, withTasks } from './capabilities.ts'
import type { McpFrontContext } from './context.ts'
import type { Post } from './posted.ts'

const version = readVersion()

interface Serving {
  /** The name that the client gives itself. */
  readonly clientName: unknown
  readonly capabilities: ServerCapabilities
  readonly wakes?: ReadonlySet<string>
  readonly request?: JSONRPCRequest | undefined
  /** True where clients may follow tasks. */
  readonly hasTasks?: boolean
}

/** Returns a server of the SDK for one POST: it speaks for the caller, and for as long as that. */
export function createCallerServer(
  { callApi, mcpEvents }: Pick<McpFrontContext, 'callApi' | 'mcpEvents'>,
  { caller, address, req, res, slot, toolSet }: Post,
  { clientName, capabilities, wakes = new Set(), request, hasTasks = false }: Serving,
): McpServer {
  const surface = surfaceOfName(typeof clientName === 'string' ? clientName : '')
  const call = callUntilSent(callApi({ caller, address, surface, slot }), res)
  const { identity, projectId: project } = caller
  const reportsProgress = Boolean(req.accepts('text/event-stream'))
  const events = mcpEvents.isOn ? mcpEvents.codes : undefined
  const offered = events === undefined ? capabilities : withEvents(capabilities)
  const speaking = { call, identity, project, version, wakes, reportsProgress, request, events, toolSet, hasTasks }
  const follows = hasTasks && toolSet === undefined && messageDeclaresTasks(request)
  return createMcpServer({ ...speaking, capabilities: follows ? withTasks(offered) : offered })
}

/** Calls the API for the answer to one POST. Mail in it waits again if the answer is not sent to its end: then nobody has read it. */
export function callUntilSent(call: CallApi, res: Response): CallApi {
  const whenUnsent = unsentOver(res)
  return async (request, options) => {
    const answer = await call(request, options)
    const { pendingSignals } = answer.body
    if (answer.returnMail && Array.isArray(pendingSignals) && pendingSignals.length > 0) {
      whenUnsent(200, answer.returnMail)
    }
    return answer
  }
}

/** Headers that a server of the SDK has a use for. The credentials stay here. */
const kept = ['content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name', 'traceparent', 'tracestate', 'baggage']

/**
 * Returns a request as the SDK takes it, without its body, which is parsed already. It accepts every answer: what the client accepts decides
 * how its answer is sent, not whether there is one.
 * @param signal ends the exchange
 */
export function webRequest(req: ExpressRequest, signal?: AbortSignal): Request {
  const headers = new Headers({ accept: 'application/json, text/event-stream' })
  for (const [name, value] of Object.entries(req.headers)) {
    const isKept = kept.includes(name) || name.startsWith('mcp-param-')
    if (isKept && typeof value === 'string') headers.set(name, value)
  }
  return new Request('http://gateway/mcp', { method: req.method, headers, ...(signal ? { signal } : {}) })
}
