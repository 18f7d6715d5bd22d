import { isoTime } from '../../lib/iso-time.ts'
import type { LogEvent } from '../../log/event.ts'
import { GrowthSignal } from '../../log/growth-signal.ts'
import type { LogNotifier } from '../../log/log-notifier.ts'
import type { Caller } from '../../registry/callers/caller.ts'
import type { WakeSubscription } from '../../registry/subscriptions/subscription.ts'
import { type McpEvent, mcpEventData, mcpEventId } from '../../wakes/content/mcp-event.ts'
import { scanPending } from '../../wakes/read/scan-pending.ts'
import { type McpEventChoice, mcpEventCursor } from '../../words/mcp-events.ts'
import type { SubscriptionContext } from '../context.ts'
import { subscriptionTo } from './choice.ts'
import { type RequestedStart, startPosition } from './start-position.ts'

interface PollInput extends RequestedStart {
  readonly choice: McpEventChoice
  /** The most events of the answer. */
  readonly maxEvents: number
  /** How long it waits for the first event, in ms. */
  readonly timeoutMs: number
}

/** The next events after a cursor. Source: SEP-3415, events/poll. */
export interface Polled {
  readonly events: readonly McpEvent[]
  readonly cursor: string
  readonly truncated: boolean
  readonly hasMore: boolean
}

interface PollContext extends Pick<SubscriptionContext, 'db' | 'clock'> {
  readonly notifier: LogNotifier
}

/** How a poll reads on, and waits. */
interface PollTurn {
  /** Aborts when nobody waits for the answer any more. */
  readonly signal: AbortSignal
  /** Counts a read of many pages. Errors: `rate-limited`. */
  readonly spend: () => void
  /** Called before it waits. */
  readonly waits: () => void
}

/** Pages of the log for one answer, 5,000 events of the caller. The next poll reads on. The first one has what is wanted, and one more. */
const pagesMax = 25
const pagesFree = 2

/**
 * Reads the events of a type after a cursor, and waits for the first one where it may. Without a cursor it returns none, and the cursor of
 * now. Nothing is stored: it is a read of the log. Where it finds nothing in many pages, it returns none, and `hasMore`.
 */
export async function pollEvents(
  { db, clock, notifier }: PollContext,
  caller: Caller,
  input: PollInput,
  { signal, spend, waits }: PollTurn,
): Promise<Polled> {
  const { projectId } = caller
  const { choice, maxEvents, timeoutMs } = input
  const reader = subscriptionTo(caller, choice)
  const endsAt = clock.now() + timeoutMs
  const growth = new GrowthSignal(notifier, reader.audience, projectId)
  const cancel = clock.after(timeoutMs, growth.close)
  signal.addEventListener('abort', growth.close)
  try {
    const { logId, isCut } = await startPosition(db, projectId, input, clock.now())
    let after = logId
    for (;;) {
      let pages = 0
      for await (const page of scanPending(db, reader, after, { first: maxEvents + 1 })) {
        pages++
        const events = page.events.slice(0, maxEvents)
        const isWhole = events.length === page.events.length
        after = isWhole ? page.scannedTo : (events.at(-1)?.logId ?? after)
        const isOver = signal.aborted || (page.more ? pages === pagesMax : clock.now() >= endsAt)
        if (isOver || maxEvents === 0 || events.length > 0) {
          const seen = events.map((event) => occurrence(reader, event, choice))
          const hasMore = !isWhole || page.more
          return { events: seen, cursor: mcpEventCursor(projectId, after), truncated: isCut, hasMore }
        }
        if (page.more && pages === pagesFree) spend()
      }
      waits()
      await growth.next()
    }
  } finally {
    signal.removeEventListener('abort', growth.close)
    cancel()
    growth.close()
  }
}

function occurrence(reader: WakeSubscription, event: LogEvent, choice: McpEventChoice): McpEvent {
  const { projectId, target } = reader
  return {
    eventId: mcpEventId(projectId, event.logId, choice.name),
    name: choice.name,
    timestamp: isoTime(event.createdAt),
    data: mcpEventData(choice, event, target.withoutSubjects === true),
  }
}
