import type { LogEvent } from '../log/event.ts'
import { readTaskEvents, readTriggerEvents } from '../log/event-store.ts'
import type { Subscription } from '../registry/subscription.ts'
import type { Reader } from '../storage/database.ts'
import { isToldElsewhere, matches } from './match.ts'

/** What a subscription has before it: the matching events of one page, and how far that page reached. */
export interface Pending {
  readonly events: readonly LogEvent[]
  readonly scannedTo: number
  readonly more: boolean
}

const pageSize = 200

/** Reads the next page of a subscription's audience in `(after, upTo]` and keeps what wakes it. */
export async function readPending(
  db: Reader,
  subscription: Subscription,
  siblings: readonly Subscription[],
  after: number,
  upTo = Number.MAX_SAFE_INTEGER,
): Promise<Pending> {
  const page =
    subscription.kind === 'push'
      ? await readTaskEvents(db, subscription.audience, after, pageSize, upTo)
      : await readTriggerEvents(db, subscription.projectId, subscription.audience, subscription.trigger ?? '', {
          after,
          upTo,
          limit: pageSize,
        })
  return {
    events: page.filter((event) => matches(subscription, event) && !isToldElsewhere(subscription, event, siblings)),
    scannedTo: page.at(-1)?.logId ?? after,
    more: page.length === pageSize,
  }
}
