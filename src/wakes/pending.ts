import type { LogEvent } from '../log/event.ts'
import { readTaskEvents, readTriggerEvents } from '../log/event-store.ts'
import type { Subscription } from '../registry/subscription.ts'
import { type SubscriptionRow, subscriptionColumns, subscriptionFromRow } from '../registry/subscription-store.ts'
import type { Reader } from '../storage/database.ts'
import { p, sql, statement } from '../storage/statement.ts'
import { heldWithin } from './held-store.ts'
import { comesWithMessage, isToldElsewhere, matches } from './match.ts'
import { isGated } from './policy.ts'
import type { RunContext } from './run-context.ts'

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
  const scannedTo = page.at(-1)?.logId ?? after
  const matching = page.filter((event) => matches(subscription, event))
  const waking = await withoutHeld(db, subscription, matching, after, scannedTo)
  return {
    events: await withoutToldElsewhere(db, subscription, waking),
    scannedTo,
    more: page.length === pageSize,
  }
}

/** Where presence has a part in it, what was held when it came stays held: its agent finds it at the next turn. */
async function withoutHeld(
  db: Reader,
  { id, kind, harnessTarget }: Subscription,
  events: readonly LogEvent[],
  after: number,
  upTo: number,
): Promise<readonly LogEvent[]> {
  if (kind === 'push' || !isGated(harnessTarget) || events.length === 0) return events
  const held = await heldWithin(db, id, after, upTo)
  return events.filter(({ logId }) => !held.has(logId))
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

/** The events that are still news: mail that its recipient was handed by another route wakes it no more. */
export async function withoutInHand(
  { db, findInHand }: Pick<RunContext, 'db' | 'findInHand'>,
  { trigger, agentId }: Subscription,
  events: readonly LogEvent[],
): Promise<readonly LogEvent[]> {
  if (!findInHand || trigger !== 'SENT_TO_ME' || events.length === 0) return events
  const messageOf = ({ data }: LogEvent): string => String(data.messageId)
  const inHand = await findInHand(db, agentId, events.map(messageOf))
  return inHand.size === 0 ? events : events.filter((event) => !inHand.has(messageOf(event)))
}
