import type { LogEvent } from '../log/event.ts'
import { readTaskEvents, readTriggerEvents } from '../log/event-store.ts'
import type { Subscription } from '../registry/subscription.ts'
import { type SubscriptionRow, subscriptionColumns, subscriptionFromRow } from '../registry/subscription-store.ts'
import type { Reader } from '../storage/database.ts'
import { p, sql, statement } from '../storage/statement.ts'
import { comesWithMessage, isToldElsewhere, matches } from './match.ts'

/** What a subscription has before it: the matching events of one page, and how far that page reached. */
export interface Pending {
  readonly events: readonly LogEvent[]
  readonly scannedTo: number
  readonly more: boolean
}

export const pageMax = 200

const mailSubscriptions = statement<
  { agentId: string; harnessTarget: string },
  SubscriptionRow
>(sql`select ${subscriptionColumns} from subscription where agent_id = ${p('agentId')} and kind = 'wake'
  and trigger = 'SENT_TO_ME' and status = 'active' and harness_target = ${p('harnessTarget')}`)

/** Reads the next page of a subscription's audience in `(after, upTo]` and keeps what wakes it. */
export async function readPending(
  db: Reader,
  subscription: Subscription,
  after: number,
  upTo = Number.MAX_SAFE_INTEGER,
  pageSize = pageMax,
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
    events: await withoutToldElsewhere(
      db,
      subscription,
      page.filter((event) => matches(subscription, event)),
    ),
    scannedTo: page.at(-1)?.logId ?? after,
    more: page.length === pageSize,
  }
}

async function withoutToldElsewhere(
  db: Reader,
  subscription: Subscription,
  events: readonly LogEvent[],
): Promise<readonly LogEvent[]> {
  if (subscription.kind === 'push' || !events.some(comesWithMessage)) return events
  const { agentId, harnessTarget } = subscription
  const siblings = (await db.all(mailSubscriptions, { agentId, harnessTarget })).map(subscriptionFromRow)
  return events.filter((event) => !isToldElsewhere(subscription, event, siblings))
}
