import { type Request, Router } from 'express'
import { Problem } from '../../errors.ts'
import type { LogEvent } from '../../log/event.ts'
import { logBounds, readAudienceEvents, readProjectEvents } from '../../log/event-store.ts'
import { follow } from '../../log/follow.ts'
import type { LiveTail } from '../../log/live-tail.ts'
import type { Caller } from '../../registry/caller.ts'
import type { Database } from '../../storage/database.ts'
import { callerOf } from '../auth.ts'
import { onlyMethods } from '../method-not-allowed.ts'
import { startEventStream, untilClosed } from '../sse.ts'
import { parse } from '../validate.ts'
import { eventsQuery } from './schemas.ts'
import { eventView } from './views.ts'

const limitDefault = 100

/** `/v1/events`: the log as pages, or as a live stream. An agent sees what concerns it, the operator all of the project. */
export function eventRoutes(context: { db: Database; tail: LiveTail; stopping: AbortSignal }): Router {
  const { db, tail, stopping } = context
  const router = Router()
  router.get('/', async (req, res) => {
    const caller = callerOf(res)
    const { since, limit = limitDefault } = parse(eventsQuery, req.query)
    // HEAD has no body to stream: it is answered for the page.
    if (req.method !== 'HEAD' && req.accepts(['application/json', 'text/event-stream']) === 'text/event-stream') {
      const after = await requireKept(db, caller, lastEventId(req) ?? since)
      const signal = untilClosed(req, res, stopping)
      const write = startEventStream(res, signal)
      const read = (watermark: number, count: number) => readEvents(db, caller, watermark, count)
      for await (const event of follow(tail, { key: caller.projectId, after, read, signal })) {
        await write({ id: String(event.logId), type: event.type, data: JSON.stringify(eventView(event)) })
      }
      res.end()
      return
    }
    const { head, tail: earliest } = await logBounds(db, caller.projectId)
    const after = since === undefined ? earliest : await requireKept(db, caller, since)
    const found = await readEvents(db, caller, after, limit + 1)
    const events = found.slice(0, limit)
    const more = found.length > limit
    // The next watermark: behind the last event of a full page, else behind everything there was before the read.
    const nextSince = Math.max(more ? 0 : head, events.at(-1)?.logId ?? after)
    res.json({ events: events.map(eventView), lastLogId: head, nextSince, more })
  })
  router.all('/', onlyMethods('GET'))
  return router
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
