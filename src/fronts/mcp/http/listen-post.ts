import { once } from 'node:events'
import {
  CLIENT_INFO_META_KEY,
  createMcpHandler,
  isJSONRPCRequest,
  type JSONRPCRequest,
  type ServerEventBus,
} from '@modelcontextprotocol/server'
import { Problem } from '../../../errors.ts'
import { isJsonObject } from '../../../lib/json.ts'
import { sizeLimits } from '../../../limits.ts'
import { logBounds } from '../../../log/event-store.ts'
import { bytesOfUris, uriBytesMax } from '../../../mcp-sessions/mcp-sessions.ts'
import { authorise } from '../../access/authorise.ts'
import { untilClosed } from '../../http/sse.ts'
import { untilGone } from '../../http/until-gone.ts'
import { createCallerServer, webRequest } from './caller-server.ts'
import { listenCapabilities } from './capabilities.ts'
import { tellChanges } from './changed-resources.ts'
import type { McpFrontContext } from './context.ts'
import { listenOperation } from './mcp-table.ts'
import type { Post } from './posted.ts'
import { sendAnswer } from './send-answer.ts'

/**
 * Answers the POST of a protocol version without sessions, from 2026-07-28. Each request has a handler of its own, so what
 * `subscriptions/listen` receives is bound to its caller: the SDK honours every URI that a client names. Source: MCP 2026-07-28,
 * subscriptions.
 */
export async function answerListenPost(context: McpFrontContext, post: Post): Promise<void> {
  const { caller, req, res, messages, isBatch } = post
  const request = messages.find(isJSONRPCRequest)
  const uris = request?.method === 'subscriptions/listen' ? listenedIn(request) : undefined
  const streams = uris !== undefined || request?.method === 'events/stream'
  if (streams) authorise(listenOperation, caller)
  using openCall = context.openCalls.open(caller, streams ? 'streams' : undefined)
  const signal = streams ? untilClosed(req, res, openCall.signal) : untilGone(res, openCall.signal)
  const stopping = uris ? AbortSignal.any([signal, context.stopping]) : signal
  const after = uris ? (await logBounds(context.db, caller.projectId)).head : 0
  const client = request?.params?._meta?.[CLIENT_INFO_META_KEY]
  const clientName = isJsonObject(client) ? client.name : undefined
  const serving = { clientName, capabilities: listenCapabilities, request, hasTasks: true }
  const handler = createMcpHandler(() => createCallerServer(context, post, serving), {
    legacy: 'reject',
    bus: busFor(context, post, { after, uris: new Set(uris), signal }),
    maxSubscriptions: 1,
    keepAliveMs: 0,
  })
  // The SDK ends an open listen with its result. A reader without a key any more gets nothing.
  const end = (): void => void handler.close().catch(() => {})
  stopping.addEventListener('abort', end, { once: true })
  try {
    const parsedBody = isBatch ? messages : messages[0]
    const answered = await handler.fetch(webRequest(req, signal), { parsedBody })
    if (signal.aborted) return void res.destroy()
    await sendAnswer(answered, { ...post, openCall, signal, unread: context.admission.unread })
  } finally {
    stopping.removeEventListener('abort', end)
    end()
  }
}

/** The changes of the caller's own resources, as fast as the client reads them. What it has not named is not kept for it. */
function busFor(
  context: McpFrontContext,
  { caller, res }: Post,
  {
    after,
    uris,
    signal,
  }: { readonly after: number; readonly uris: ReadonlySet<unknown>; readonly signal: AbortSignal },
): ServerEventBus {
  return {
    publish() {},
    subscribe(hear) {
      const left = new AbortController()
      const ended = AbortSignal.any([signal, left.signal])
      void tellChanges(context, {
        caller,
        after,
        signal: ended,
        wanted: (changed) => changed.filter((uri) => uris.has(uri)),
        tell: (uri) => hear({ kind: 'resource_updated', uri }),
        taken: async () => {
          if (res.writableNeedDrain) await once(res, 'drain', { signal: ended }).catch(() => {})
        },
      })
      return () => left.abort()
    },
  }
}

/** Returns the notifications that a listen request asks for. Errors: `invalid-request` for more resources than one may name. */
function listenedIn({ params }: JSONRPCRequest): readonly unknown[] {
  const filter = params?.notifications
  const named = isJsonObject(filter) ? filter.resourceSubscriptions : undefined
  const uris: readonly unknown[] = Array.isArray(named) ? named : []
  const { items, url } = sizeLimits
  if (uris.length > items.max || uris.some((uri) => typeof uri === 'string' && uri.length > url.max)) {
    throw tooMany('items', items.max, `names at most ${items.max} resources, of ${url.max} characters each.`)
  }
  if (bytesOfUris(uris) > uriBytesMax) {
    throw tooMany(
      'description',
      uriBytesMax,
      `has more than ${uriBytesMax} bytes. Name fewer resources, or shorter URIs.`,
    )
  }
  return uris
}

function tooMany(limit: string, max: number, detail: string): Problem {
  const field = 'params.notifications.resourceSubscriptions'
  return new Problem('invalid-request', { field, detail: `${field}: ${detail}`, extra: { limit, max } })
}
