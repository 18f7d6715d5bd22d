import type { Request, Response } from 'express'
import { Problem } from '../../../errors.ts'
import { revoked } from '../../../identity/open-calls.ts'
import { newUlid } from '../../../lib/ids.ts'
import { untilAborted } from '../../../lib/until-aborted.ts'
import type { McpSession } from '../../../mcp-sessions/mcp-session.ts'
import { requireMcpSession, takeSessionStream } from '../../../mcp-sessions/mcp-sessions.ts'
import type { Caller } from '../../../registry/callers/caller.ts'
import { problemBody } from '../../problem-body.ts'
import { EventStream, streamHeaders, untilClosed } from '../../sse.ts'
import { readerOf } from '../../unsent.ts'
import type { McpFrontContext } from './context.ts'
import { NotificationWriter } from './notification-writer.ts'
import { PacedUpdates } from './paced-updates.ts'
import { sessionIdOf } from './session-post.ts'
import { positionOf, type StreamPosition } from './stream-position.ts'
import { WakeLink } from './wake-link.ts'

/**
 * Writes the notifications of a session as they come, until its client leaves, the session or its key ends, the gateway stops, or a
 * newer stream of the session is open. With `Last-Event-ID` what was missed comes first, whichever gateway had written before.
 * Errors: `session-not-found`, `invalid-request`. Source: MCP 2025-11-25, Transports, Listening for Messages from the Server.
 */
export async function streamSession(
  context: McpFrontContext,
  caller: Caller,
  { req, res }: { readonly req: Request; readonly res: Response },
): Promise<void> {
  requireStreamAccepted(req)
  const { mcp, openCalls, stopping, unsent, clock, log } = context
  const session = await requireMcpSession(mcp.sessions, caller, sessionIdOf(req))
  const from = positionOf(req.get('last-event-id') ?? '')
  using openCall = openCalls.open(caller, 'streams')
  const left = new AbortController()
  const signal = untilClosed(req, res, stopping, openCall.signal, left.signal)
  if (openCall.signal.aborted) throw revoked()
  const id = newUlid(clock.now())
  await takeSessionStream(mcp.sessions, session.id, id)
  const head = await mcp.feed.head(caller)
  const farewell = (): object => problemBody(revoked(), '/mcp')
  const stream = new EventStream(res, { ...readerOf(caller), revoked: openCall.signal, farewell }, unsent)
  const writer = new NotificationWriter(stream, session, head, from)
  res.writeHead(200, streamHeaders)
  writer.begin(mcp.retryMs())
  const address = context.clientAddress(req.socket.remoteAddress, req.get('x-forwarded-for'))
  const leave = (): void => left.abort()
  await using wakes = new WakeLink(context, { caller, address, writer, from, signal, leave })
  const paced = new PacedUpdates(clock, res, signal, (uris) => writer.updated(uris))
  using _open = mcp.streams.open({
    id,
    sessionId: session.id,
    update(changed) {
      writer.update(changed)
      wakes.follow(changed).catch((err: unknown) => log.warn({ err }, 'mcp_wakes.unconnected'))
    },
    end: leave,
  })
  const unlisten = mcp.feed.listen(caller, head, (uris, logId) => paced.add(writer.subscribed(uris, logId)))
  try {
    await wakes.follow(session)
    if (from) await tellMissed(context, caller, session, { from, paced })
    writer.catchUp()
    await untilAborted(signal)
  } finally {
    unlisten()
    // Bytes that nobody reads are dropped.
    if (unsent.isFull(readerOf(caller))) res.destroy()
    else if (!res.writableEnded) res.end()
  }
}

/** Says which resources have changed while the client was away. */
async function tellMissed(
  { mcp }: McpFrontContext,
  caller: Caller,
  { resources }: McpSession,
  { from, paced }: { readonly from: StreamPosition; readonly paced: PacedUpdates },
): Promise<void> {
  if (resources.length === 0) return
  const changed = await mcp.feed.changedSince(caller, from.head)
  paced.add(changed ? resources.filter((uri) => changed.has(uri)) : resources)
}

function requireStreamAccepted(req: Request): void {
  if (req.accepts('text/event-stream')) return
  throw new Problem('invalid-request', { field: 'Accept', detail: 'Accept: send text/event-stream.' })
}
