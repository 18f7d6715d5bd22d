import {
  CLIENT_INFO_META_KEY,
  createMcpHandler,
  isJSONRPCRequest,
  type ServerEventBus,
} from '@modelcontextprotocol/server'
import { Problem } from '../../../errors.ts'
import { isJsonObject } from '../../../lib/json.ts'
import { readVersion } from '../../../lib/version.ts'
import { mcpLimits } from '../../../limits.ts'
import { bytesOfUris } from '../../../mcp-sessions/mcp-sessions.ts'
import { surfaceOfName } from '../../../words/surfaces.ts'
import { authorise } from '../../access/authorise.ts'
import { leaveDoor, placeOf } from '../../door.ts'
import { untilClosed } from '../../sse.ts'
import { untilGone } from '../../until-gone.ts'
import { createMcpServer } from '../create-mcp-server.ts'
import { callUntilSent } from './call-until-sent.ts'
import { listenCapabilities } from './capabilities.ts'
import type { McpFrontContext } from './context.ts'
import type { Post } from './exchange.ts'
import { listenOperation } from './mcp-table.ts'
import { PacedUpdates } from './paced-updates.ts'
import { sendAnswer } from './send-answer.ts'
import { webRequest } from './web-request.ts'

const version = readVersion()

/**
 * Answers the POST of a protocol version without sessions, from 2026-07-28. Each request has a handler of its own, so what
 * `subscriptions/listen` hears is bound to its caller: the SDK honours every URI that a client names. Source: MCP 2026-07-28,
 * subscriptions.
 */
export async function answerListenPost(context: McpFrontContext, post: Post): Promise<void> {
  const { caller, address, req, res } = post
  const filter = listenedIn(post)
  if (filter) authorise(listenOperation, caller)
  using openCall = context.openCalls.open(caller, filter ? 'streams' : undefined)
  const signal = filter ? untilClosed(req, res, openCall.signal) : untilGone(res, openCall.signal)
  const stopping = filter ? AbortSignal.any([signal, context.stopping]) : signal
  const after = filter ? await context.mcp.feed.head(caller) : 0
  const surface = surfaceOfName(nameOfClient(post))
  const handler = createMcpHandler(
    () =>
      createMcpServer({
        call: callUntilSent(
          context.callApi({ caller, address, surface, waits: () => leaveDoor(res), place: placeOf(res) }),
          res,
        ),
        identity: caller.identity,
        project: caller.projectId,
        version,
        capabilities: listenCapabilities,
        request: post.posted.isBatch ? undefined : post.posted.messages.find(isJSONRPCRequest),
      }),
    {
      legacy: 'reject',
      bus: busFor(context, post, { after, uris: new Set(filter?.uris), signal }),
      maxSubscriptions: 1,
      keepAliveMs: 0,
    },
  )
  // The SDK ends an open listen with its result. A reader without a key any more gets nothing.
  const end = (): void => void handler.close().catch(() => {})
  stopping.addEventListener('abort', end, { once: true })
  try {
    const answered = await handler.fetch(webRequest(req, signal), { parsedBody: req.body })
    if (signal.aborted) return void res.destroy()
    await sendAnswer(answered, { res, caller, openCall, signal, unsent: context.unsent })
  } finally {
    stopping.removeEventListener('abort', end)
    end()
  }
}

/** The changes of the caller's own resources, as fast as the client reads them. */
function busFor(
  { mcp, clock }: McpFrontContext,
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
      // What the client has not named would be kept for a reader that reads nothing.
      const paced = new PacedUpdates(clock, res, signal, (changed) => {
        for (const uri of changed) hear({ kind: 'resource_updated', uri })
      })
      return mcp.feed.listen(caller, after, (changed) => paced.add(changed.filter((uri) => uris.has(uri))))
    },
  }
}

/** What the client calls itself, in the envelope of its request. */
function nameOfClient({ posted }: Post): string {
  const [{ params } = {}] = posted.messages.filter(isJSONRPCRequest)
  const client = params?._meta?.[CLIENT_INFO_META_KEY]
  return isJsonObject(client) && typeof client.name === 'string' ? client.name : ''
}

/** Returns what a listen request wants to hear. Errors: `invalid-request` for more resources than one may name. */
function listenedIn({ posted }: Post): { readonly uris: readonly unknown[] } | undefined {
  const listen = posted.messages.filter(isJSONRPCRequest).find(({ method }) => method === 'subscriptions/listen')
  const filter = (listen?.params as { notifications?: { resourceSubscriptions?: unknown } } | undefined)?.notifications
  const named = filter?.resourceSubscriptions
  const uris: readonly unknown[] = Array.isArray(named) ? named : []
  const { mcpResources, mcpUri, mcpUriBytes } = mcpLimits
  if (uris.length > mcpResources.max || uris.some((uri) => typeof uri === 'string' && uri.length > mcpUri.max)) {
    throw new Problem('invalid-request', {
      field: 'params.notifications.resourceSubscriptions',
      detail: `params.notifications.resourceSubscriptions: names at most ${mcpResources.max} resources, of ${mcpUri.max} characters each.`,
      extra: { limit: 'mcpResources', max: mcpResources.max },
    })
  }
  if (bytesOfUris(uris) > mcpUriBytes.max) {
    throw new Problem('invalid-request', {
      field: 'params.notifications.resourceSubscriptions',
      detail: `params.notifications.resourceSubscriptions: has more than ${mcpUriBytes.max} bytes. Name fewer resources, or shorter URIs.`,
      extra: { limit: 'mcpUriBytes', max: mcpUriBytes.max },
    })
  }
  return listen && { uris }
}
