import { sleep } from '../../lib/clock.ts'
import { isoTime } from '../../lib/iso-time.ts'
import type { LogEvent } from '../../log/event.ts'
import { GrowthSignal } from '../../log/growth-signal.ts'
import type { LogNotifier } from '../../log/log-notifier.ts'
import type { Caller } from '../../registry/callers/caller.ts'
import type { WakeSubscription } from '../../registry/subscriptions/subscription.ts'
import { type McpEvent, mcpEventData, mcpEventId } from '../../wakes/content/mcp-event.ts'
import { readPending } from '../../wakes/read/pending.ts'
import { type McpEventChoice, mcpEventCursor } from '../../words/mcp-events.ts'
import type { SubscriptionContext } from '../context.ts'
import { subscriptionTo } from './choice.ts'
import { startPosition, type Wanted } from './start-position.ts'

interface PollInput extends Wanted {
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

/**
 * Reads the events of a type after a cursor, and waits for the first one where it may. Without a cursor it returns none, and the cursor of
 * now. Nothing is stored: it is a read of the log.
 * @param untilGone called before it waits: returns a signal that ends the wait
 */
export async function pollEvents(
  context: PollContext,
  caller: Caller,
  input: PollInput,
  untilGone: () => AbortSignal,
): Promise<Polled> {
  const { db, clock, notifier } = context
  const { projectId } = caller
  const reader = subscriptionTo(caller, input.choice)
  const endsAt = clock.now() + input.timeoutMs
  const growth = input.timeoutMs > 0 ? new GrowthSignal(notifier, projectId) : undefined
  try {
    const { logId, isCut } = await startPosition(db, projectId, input, clock.now())
    let after = logId
    let signal: AbortSignal | undefined
    for (;;) {
      const page = await readPending(db, reader, after)
      const events = page.events.slice(0, input.maxEvents)
      const isWhole = events.length === page.events.length
      after = isWhole ? page.scannedTo : (events.at(-1)?.logId ?? after)
      const hasMore = !isWhole || page.more
      const leftMs = endsAt - clock.now()
      const isOver =
        input.maxEvents === 0 || events.length > 0 || growth === undefined || leftMs <= 0 || signal?.aborted === true
      if (isOver && (input.maxEvents === 0 || events.length > 0 || !page.more)) {
        const seen = events.map((event) => occurrence(reader, event, input.choice))
        return { events: seen, cursor: mcpEventCursor(projectId, after), truncated: isCut, hasMore }
      }
      if (page.more) continue
      signal ??= untilGone()
      await Promise.race([growth!.next(), sleep(clock, leftMs, signal)])
    }
  } finally {
    growth?.close()
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
