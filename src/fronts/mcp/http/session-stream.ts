import { Problem } from '../../../errors.ts'
import { revoked } from '../../../identity/open-calls.ts'
import { newUlid } from '../../../lib/ids.ts'
import { logBounds } from '../../../log/event-store.ts'
import { requireMcpSession, takeSessionStream } from '../../../mcp-sessions/mcp-sessions.ts'
import { EventStream, streamHeaders, untilClosed } from '../../http/sse.ts'
import { problemBody } from '../../problem-body.ts'
import { tellChanges } from './changed-resources.ts'
import type { McpFrontContext } from './context.ts'
import { NotificationWriter } from './notification-writer.ts'
import type { Post } from './posted.ts'
import { sessionIdOf } from './session-post.ts'
import { positionOf } from './stream-position.ts'
import { StreamWakes } from './stream-wakes.ts'

/** The most events that are read for a reader that was away. If it missed more, it is notified that everything has changed. */
const missedMax = 1_000

/**
 * Writes the notifications of a session as they come, until its client leaves, the session or its key ends, the gateway stops, or a
 * newer stream of the session is open. With `Last-Event-ID` what was missed comes first, whichever gateway had written before. The transport
 * of the SDK has no such stream: its streams are those of one process, and it does not say whether a client has taken what was written.
 * Errors: `session-not-found`, `invalid-request`. Source: MCP 2025-11-25, Transports, Listening for Messages from the Server.
 */
export async function streamSession(
  context: McpFrontContext,
  { caller, address, req, res }: Pick<Post, 'caller' | 'address' | 'req' | 'res'>,
): Promise<void> {
  const { db, mcp, openCalls, stopping, admission, clock } = context
  if (!req.accepts('text/event-stream')) {
    throw new Problem('invalid-request', { field: 'Accept', detail: 'Accept: send text/event-stream.' })
  }
  const session = await requireMcpSession(mcp.sessions, caller, sessionIdOf(req))
  const from = positionOf(req.get('last-event-id') ?? '')
  using openCall = openCalls.open(caller, 'streams')
  const left = new AbortController()
  const leave = (): void => left.abort()
  const signal = untilClosed(req, res, stopping, openCall.signal, left.signal)
  if (openCall.signal.aborted) throw revoked()
  const id = newUlid(clock.now())
  await takeSessionStream(mcp.sessions, session.id, id)
  const { head, prunedTo } = await logBounds(db, caller.projectId)
  const farewell = (): object => problemBody(revoked(), '/mcp')
  const stream = new EventStream(res, { caller, revoked: openCall.signal, farewell }, admission.unread)
  const writer = new NotificationWriter(stream, session, head, from)
  res.writeHead(200, streamHeaders)
  writer.begin(mcp.retryMs())
  await using wakes = new StreamWakes(context, { caller, address, writer, from, signal, leave })
  using _open = mcp.streams.open({
    id,
    sessionId: session.id,
    update(changed) {
      writer.update(changed)
      return wakes.follow(changed)
    },
    end: leave,
  })
  try {
    await wakes.follow(session)
    const after = from && from.head >= prunedTo && head - from.head <= missedMax ? from.head : head
    if (from && after !== from.head) for (const uri of session.resources) writer.updated(uri)
    await tellChanges(context, {
      caller,
      after,
      signal,
      wanted: (uris, logId) => writer.subscribed(uris, logId),
      tell: (uri) => writer.updated(uri),
      taken: () => stream.taken(signal),
      onIdle: () => writer.catchUp(),
    })
  } finally {
    // Bytes that nobody reads are dropped.
    if (admission.unread.isFull(caller)) res.destroy()
    else if (!res.writableEnded) res.end()
  }
}
