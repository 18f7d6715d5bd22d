import type { LogEvent } from '../../log/event.ts'
import { readTaskEvents, readTriggerEvents } from '../../log/event-store.ts'
import type { RecentEvents } from '../../log/recent-events.ts'
import type { Subscription } from '../../registry/subscriptions/subscription.ts'
import {
  type SubscriptionRow,
  subscriptionColumns,
  wakeFromRow,
} from '../../registry/subscriptions/subscription-row.ts'
import { targets } from '../../registry/subscriptions/targets.ts'
import type { Reader } from '../../storage/database.ts'
import { p, sql, statement } from '../../storage/statement.ts'
import { comesWithMessage, isWokenBySibling, matches, triggerOf } from '../rules/match.ts'
import { heldWithin } from '../store/held-store.ts'

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

interface Range {
  /** exclusive */
  readonly after: number
  /** inclusive */
  readonly upTo: number
  readonly limit: number
}

/** Reads the next page of a subscription's audience in `(after, upTo]` and keeps what wakes it. */
export async function readPending(
  db: Reader,
  subscription: Subscription,
  after: number,
  upTo = Number.MAX_SAFE_INTEGER,
): Promise<Pending> {
  const page = await readPage(db, subscription, { after, upTo, limit: pageMax })
  return {
    events: await sift(db, subscription, page, after),
    scannedTo: page.at(-1)?.logId ?? after,
    more: page.length === pageMax,
  }
}

/** Of the events of a subscription's audience behind a logId, all up to the last of them, those that wake it. */
export async function sift(
  db: Reader,
  subscription: Subscription,
  events: readonly LogEvent[],
  after: number,
): Promise<readonly LogEvent[]> {
  const matching = events.filter((event) => matches(subscription, event))
  const waking = await withoutHeld(db, subscription, matching, after, events.at(-1)?.logId ?? after)
  return withoutToldElsewhere(db, subscription, waking)
}

/** Whether anything that may be for a subscription has come behind a logId, by what is at hand: undefined where that does not tell. */
export function hasMoreCached(recent: RecentEvents, subscription: Subscription, after: number): boolean | undefined {
  const page = recentPage(recent, subscription, { after, upTo: Number.MAX_SAFE_INTEGER, limit: 1 })
  return page && page.length > 0
}

/** The next events of a subscription's audience, by what is at hand: undefined where that does not tell. */
export function recentPage(recent: RecentEvents, subscription: Subscription, range: Range): LogEvent[] | undefined {
  const { projectId, audience } = subscription
  return recent.page(projectId, audience, range, triggerOf(subscription))
}

/** The next events of a subscription's audience, from the log. */
export function readPage(db: Reader, subscription: Subscription, range: Range): Promise<LogEvent[]> {
  const { projectId, audience } = subscription
  if (subscription.kind === 'push') return readTaskEvents(db, audience, range.after, range.limit, range.upTo)
  return readTriggerEvents(db, projectId, audience, subscription.trigger, range)
}

/** Where presence has a part in it, what was held when it came stays held: its agent finds it at the next turn. */
async function withoutHeld(
  db: Reader,
  subscription: Subscription,
  events: readonly LogEvent[],
  after: number,
  upTo: number,
): Promise<readonly LogEvent[]> {
  if (subscription.kind === 'push' || !targets[subscription.harnessTarget].isGated || events.length === 0) return events
  const held = await heldWithin(db, subscription.id, after, upTo)
  return events.filter(({ logId }) => !held.has(logId))
}

async function withoutToldElsewhere(
  db: Reader,
  subscription: Subscription,
  events: readonly LogEvent[],
): Promise<readonly LogEvent[]> {
  if (subscription.kind === 'push' || !events.some(comesWithMessage)) return events
  const { agentId, harnessTarget } = subscription
  const siblings = (await db.all(mailSubscriptions, { agentId, harnessTarget })).map(wakeFromRow)
  return events.filter((event) => !isWokenBySibling(subscription, event, siblings))
}

/** Those of the messages that an agent was handed by something else than a wake. */
export type FindDelivered = (agentId: string, messageIds: readonly string[]) => Promise<ReadonlySet<string>>

/** The events that are still news: mail that its recipient was handed by another route wakes it no more. */
export async function withoutDelivered(
  findInHand: FindDelivered | undefined,
  subscription: Subscription,
  events: readonly LogEvent[],
): Promise<readonly LogEvent[]> {
  if (!findInHand || triggerOf(subscription) !== 'SENT_TO_ME' || events.length === 0) return events
  const messageOf = ({ data }: LogEvent): string => String(data.messageId)
  const inHand = await findInHand(subscription.agentId, events.map(messageOf))
  return inHand.size === 0 ? events : events.filter((event) => !inHand.has(messageOf(event)))
}
