import type { Request } from 'express'
import { Problem } from '../../../errors.ts'
import { revoked } from '../../../identity/open-calls.ts'
import { RecentValues } from '../../../lib/recent-values.ts'
import type { LogEvent } from '../../../log/event.ts'
import { logBounds } from '../../../log/event-store.ts'
import { follow } from '../../../log/follow.ts'
import type { Caller } from '../../../registry/callers/caller.ts'
import type { Database } from '../../../storage/database.ts'
import type { FrontContext } from '../../front-context.ts'
import { EventStream, streamHeaders, untilClosed } from '../../http/sse.ts'
import { problemBody } from '../../problem-body.ts'
import type { HttpExchange } from '../route.ts'
import { readEvents, requireKept } from './read.ts'
import { eventView } from './view.ts'

/** Events that are read at once. */
const pageSize = 50

/**
 * Writes the events after a `logId`, and new ones as they come, until the reader leaves, the gateway stops or the key is
 * revoked. Without a `logId` it starts at the end of the log.
 */
export async function streamEvents(
  context: FrontContext,
  caller: Caller,
  { req, res }: HttpExchange,
  since: number | undefined,
): Promise<void> {
  const { db, notifier, stopping, openCalls, admission } = context
  const from = lastEventId(req) ?? since
  using openCall = openCalls.open(caller, 'streams')
  const after = from ?? (await logBounds(db, caller.projectId)).head
  if (from !== undefined) await requireKept(db, caller, from)
  const signal = untilClosed(req, res, stopping, openCall.signal)
  if (openCall.signal.aborted) throw revoked()
  const farewell = (): object => problemBody(revoked(), '/v1/events')
  const stream = new EventStream(res, { caller, revoked: openCall.signal, farewell }, admission.unread)
  res.writeHead(200, streamHeaders)
  res.flushHeaders()
  const source = { ...sourceFor(db, caller), after, signal, pageSize }
  for await (const event of follow(notifier, source)) {
    stream.write(texts.of(event, textOf))
    await stream.taken(signal)
  }
  if (!res.writableEnded) res.end()
}

/** Streams that share a read of the log share the texts of its events. */
const texts = new RecentValues<LogEvent, string>(64)

/** Returns an event as it is sent. */
function textOf(event: LogEvent): string {
  return `id: ${event.logId}\nevent: ${event.type}\ndata: ${JSON.stringify(eventView(event))}\n\n`
}

/** The part of the log that a caller follows: the operator the project, an agent the events that concern it. */
export function sourceFor(db: Database, caller: Caller) {
  const read = (after: number, limit: number) => readEvents(db, caller, after, limit)
  if (caller.kind === 'operator') return { key: caller.projectId, read }
  const head = async () => (await logBounds(db, caller.projectId)).head
  return { key: caller.id, within: caller.projectId, read, head }
}

function lastEventId(req: Request): number | undefined {
  const header = req.get('last-event-id')
  if (header === undefined || header === '') return undefined
  if (/^\d{1,15}$/.test(header)) return Number(header)
  throw new Problem('invalid-request', {
    field: 'Last-Event-ID',
    detail: 'Last-Event-ID: send the logId of the last event that you saw.',
  })
}
