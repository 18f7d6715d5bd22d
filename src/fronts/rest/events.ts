import { type Request, type Response, Router } from 'express'
import { Problem } from '../../errors.ts'
import { type OpenCalls, revoked } from '../../identity/open-calls.ts'
import { readBoundedPage } from '../../lib/bounded-page.ts'
import { openLimits, outputLimits } from '../../limits.ts'
import { type LogEvent, weightOf } from '../../log/event.ts'
import { logBounds, readAudienceEvents, readProjectEvents } from '../../log/event-store.ts'
import { follow } from '../../log/follow.ts'
import type { LogNotifier } from '../../log/log-notifier.ts'
import type { Caller } from '../../registry/callers/caller.ts'
import type { Database } from '../../storage/database.ts'
import { callerOf } from '../auth.ts'
import { onlyMethods } from '../method-not-allowed.ts'
import { problemBody } from '../problem.ts'
import { EventStream, streamHeaders, untilClosed } from '../sse.ts'
import type { Unsent } from '../unsent.ts'
import { parse } from '../validate.ts'
import { eventsQuery } from './schemas.ts'
import { eventView } from './views.ts'

const limitDefault = 100

interface EventsContext {
  readonly db: Database
  readonly notifier: LogNotifier
  readonly stopping: AbortSignal
  readonly openCalls: OpenCalls
  readonly unsent: Unsent
}

/** `/v1/events`: the log as pages, or as a live stream. An agent sees what concerns it, the operator all of the project. */
export function eventRoutes(context: EventsContext): Router {
  const { db } = context
  const router = Router()
  router.get('/', async (req, res) => {
    const caller = callerOf(res)
    const { since, limit = limitDefault } = parse(eventsQuery, req.query)
    // HEAD has no body to stream: it is answered for the page.
    if (req.method !== 'HEAD' && req.accepts(['application/json', 'text/event-stream']) === 'text/event-stream') {
      await streamEvents(context, req, res, lastEventId(req) ?? since)
      return
    }
    const { head, tail: earliest } = await logBounds(db, caller.projectId)
    const after = since === undefined ? earliest : await requireKept(db, caller, since)
    const read = (last: LogEvent | undefined, count: number) => readEvents(db, caller, last?.logId ?? after, count)
    const page = { limit, sizeMax: outputLimits.eventPage.max, sizeOf: weightOf }
    const { items: events, more } = await readBoundedPage(read, page)
    // The next watermark: behind the last event of a full page, else behind everything there was before the read.
    const nextSince = Math.max(more ? 0 : head, events.at(-1)?.logId ?? after)
    res.json({ events: events.map(eventView), lastLogId: head, nextSince, more })
  })
  router.all('/', onlyMethods('GET'))
  return router
}

/** The log behind a watermark and what comes to it, until the reader goes, the gateway stops or the key is taken away. */
async function streamEvents(context: EventsContext, req: Request, res: Response, since: number | undefined) {
  const { db, notifier, stopping, openCalls, unsent } = context
  const caller = callerOf(res)
  using held = openCalls.hold(caller, 'streams')
  const after = await requireKept(db, caller, since)
  const signal = untilClosed(req, res, stopping, held.signal)
  if (held.signal.aborted) throw revoked()
  const farewell = (): object => problemBody(revoked(), '/v1/events')
  const stream = new EventStream(res, { keyId: caller.keyId, revoked: held.signal, farewell }, unsent)
  res.writeHead(200, streamHeaders)
  res.flushHeaders()
  for await (const event of follow(notifier, {
    ...followed(db, caller),
    after,
    signal,
    pageSize: openLimits.streamPage.max,
  })) {
    stream.write(`id: ${event.logId}\nevent: ${event.type}\ndata: ${JSON.stringify(eventView(event))}\n\n`)
    await stream.taken(signal)
  }
  if (!res.writableEnded) res.end()
}

/** What a caller follows: the operator the project, an agent what concerns it. */
function followed(db: Database, caller: Caller) {
  const read = (after: number, limit: number) => readEvents(db, caller, after, limit)
  if (caller.kind === 'operator') return { key: caller.projectId, read }
  const head = async () => (await logBounds(db, caller.projectId)).head
  return { key: caller.id, within: caller.projectId, read, head }
}

/**
 * The watermark to go on from; a stream without one starts at the end. One that the log no longer reaches, or does not
 * reach yet because it is another log's, is said, never skipped.
 */
async function requireKept(db: Database, caller: Caller, watermark: number | undefined): Promise<number> {
  const { head, tail } = await logBounds(db, caller.projectId)
  if (watermark === undefined) return head
  if (watermark > head) {
    throw new Problem('watermark-ahead', {
      field: 'since',
      detail: `since: the log ends at ${head}. Send the logId of the last event that you saw.`,
      extra: { lastLogId: head },
    })
  }
  if (watermark >= tail) return watermark
  throw new Problem('watermark-expired', {
    field: 'since',
    detail: `since: events up to ${tail} are no longer kept. Start from ${tail}.`,
    extra: { earliestLogId: tail },
  })
}

function readEvents(db: Database, caller: Caller, after: number, limit: number): Promise<LogEvent[]> {
  return caller.kind === 'operator'
    ? readProjectEvents(db, caller.projectId, after, limit)
    : readAudienceEvents(db, caller.projectId, caller.id, after, limit)
}

function lastEventId(req: Request): number | undefined {
  const header = req.get('last-event-id')
  if (header === undefined || header === '') return undefined
  if (/^\d{1,15}$/.test(header)) return Number(header)
  throw new Problem('invalid-request', {
    field: 'Last-Event-ID',
    detail: 'Last-Event-ID: send the id of the last event that you saw, a logId.',
  })
}
