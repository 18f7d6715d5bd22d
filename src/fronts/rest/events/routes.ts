import type { Request } from 'express'
import { z } from 'zod'
import { readBoundedPage } from '../../../lib/bounded-page.ts'
import { sizeLimits } from '../../../limits.ts'
import { type LogEvent, weightOf } from '../../../log/event.ts'
import { logBounds, readTaskEvents } from '../../../log/event-store.ts'
import { count, line } from '../fields.ts'
import { route } from '../route.ts'
import { readEvents, requireKept, requireOwnTask } from './read.ts'
import { streamEvents } from './stream.ts'
import { type EventPageView, eventView } from './view.ts'

const limitDefault = 100
const eventQuery = z.strictObject({
  since: count(0, Number.MAX_SAFE_INTEGER, 'must be a logId: an integer').optional(),
  limit: count(1, 1000).optional(),
  task: line(sizeLimits.id.max).min(1).optional(),
})

/** `/v1/events`: the log in pages, or as a live stream. */
export const eventRoutes = [
  route('GET /v1/events', {
    name: 'event.read',
    what: 'read the log',
    access: { scope: 'read', operator: 'any', agent: 'party', peer: 'never', audited: 'no' },
    query: eventQuery,
    handle: async ({ caller, query, http }, context): Promise<EventPageView | undefined> => {
      const { since, limit = limitDefault, task } = query
      if (task === undefined && http && wantsStream(http.req)) {
        await streamEvents(context, caller, http, since)
        return undefined
      }
      const { db } = context
      const { head, prunedTo: earliest } = await logBounds(db, caller.projectId)
      if (since !== undefined) await requireKept(db, caller, since)
      const after = since ?? earliest
      const of = task === undefined ? undefined : await requireOwnTask(db, caller, task)
      const read = (last: LogEvent | undefined, count: number) =>
        of
          ? readTaskEvents(db, of.id, last?.logId ?? after, count)
          : readEvents(db, caller, last?.logId ?? after, count)
      const page = { limit, sizeMax: sizeLimits.page.max, sizeOf: weightOf }
      const { items: events, more } = await readBoundedPage(read, page)
      // After the last event of a full page, else after everything that was there before the read.
      const nextSince = Math.max(more ? 0 : head, events.at(-1)?.logId ?? after)
      return { events: events.map(eventView), lastLogId: head, nextSince, more }
    },
  }),
] as const

/** HEAD has no body to stream: it is answered for the page. */
function wantsStream(req: Request): boolean {
  return req.method !== 'HEAD' && req.accepts(['application/json', 'text/event-stream']) === 'text/event-stream'
}
