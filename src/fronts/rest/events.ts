import { type Request, Router } from 'express'
import { Problem } from '../../errors.ts'
import type { LogEvent } from '../../log/event.ts'
import { logBounds, readAudienceEvents, readProjectEvents } from '../../log/event-store.ts'
import { follow } from '../../log/follow.ts'
import type { LiveTail } from '../../log/live-tail.ts'
import type { Caller } from '../../registry/caller.ts'
import type { Database } from '../../storage/database.ts'
import { callerOf } from '../auth.ts'
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
    if (req.accepts(['application/json', 'text/event-stream']) === 'text/event-stream') {
      const after = await requireKept(lastEventId(req) ?? since)
      const signal = untilClosed(req, res, stopping)
      const write = startEventStream(res, signal)
      const read = (watermark: number, count: number) => readEvents(db, caller, watermark, count)
      for await (const event of follow(tail, { key: caller.projectId, after, read, signal })) {
        await write({ id: String(event.logId), type: event.type, data: JSON.stringify(eventView(event)) })
      }
      res.end()
      return
    }
    const after = await requireKept(since ?? 0, since !== undefined)
    const { head } = await logBounds(db, caller.projectId)
    const events = await readEvents(db, caller, after, limit)
    const more = events.length === limit
    // The next watermark: behind the last event of a full page, else behind everything there is.
    res.json({
      events: events.map(eventView),
      lastLogId: head,
      nextSince: Math.max(more ? 0 : head, events.at(-1)?.logId ?? after),
      more,
    })

    /** A stream without a watermark starts at the end; one that the log no longer reaches is said, never skipped. */
    async function requireKept(watermark: number | undefined, explicit = true): Promise<number> {
      const bounds = await logBounds(db, caller.projectId)
      if (watermark === undefined) return bounds.head
      if (watermark >= bounds.tail) return watermark
      if (!explicit) return bounds.tail
      throw new Problem('watermark-expired', {
        field: 'since',
        detail: `since: events up to ${bounds.tail} are no longer kept. Start from ${bounds.tail}.`,
        extra: { earliestLogId: bounds.tail },
      })
    }
  })
  return router
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
