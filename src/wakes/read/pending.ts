import type { LogEvent } from '../../log/event.ts'
import { readTaskEvents, readTriggerEvents } from '../../log/event-store.ts'
import type { RecentEvents } from '../../log/recent-events.ts'
import type { Subscription, WakeSubscription } from '../../registry/subscriptions/subscription.ts'
import {
  type SubscriptionRow,
  subscriptionColumns,
  wakeFromRow,
} from '../../registry/subscriptions/subscription-row.ts'
import type { Reader } from '../../storage/database.ts'
import { p, sql, statement } from '../../storage/statement.ts'
import { targets } from '../../words/targets.ts'
import type { HandedOver } from '../rules/handed-over.ts'
import { comesWithMessage, isWokenBySibling, matches, messageIdOf, triggerOf } from '../rules/match.ts'
import { heldWithin } from '../store/held-store.ts'

/** One page of what a subscription still has to send. */
export interface PendingPage {
  /** The events of the page that wake it. */
  readonly events: readonly LogEvent[]
  /** The last logId that the page covers. */
  readonly scannedTo: number
  /** True when the log may have another page. */
  readonly more: boolean
}

export const pageMax = 200

const mailSubscriptions = statement<
  { agentId: string; harnessTarget: string },
  SubscriptionRow
>(sql`select ${subscriptionColumns} from subscription where agent_id = ${p('agentId')} and kind = 'wake'
  and trigger = 'SENT_TO_ME' and status = 'active' and harness_target = ${p('harnessTarget')}`)

interface PageRange {
  /** exclusive */
  readonly after: number
  /** inclusive */
  readonly upTo: number
  readonly limit: number
}

/** Reads the next page of a subscription's audience in `(after, upTo]` from the log, and returns what wakes it. */
export async function readPending(
  db: Reader,
  subscription: Subscription,
  after: number,
  upTo = Number.MAX_SAFE_INTEGER,
  limit = pageMax,
): Promise<PendingPage> {
  const page = await readPage(db, subscription, { after, upTo, limit })
  return {
    events: await sift(db, subscription, page, after),
    scannedTo: page.at(-1)?.logId ?? after,
    more: page.length === limit,
  }
}

/** Returns those events that wake a subscription. `events`: everything of its audience after a logId, up to the last one given. */
export function sift(
  db: Reader,
  subscription: Subscription,
  events: readonly LogEvent[],
  after: number,
): readonly LogEvent[] | Promise<readonly LogEvent[]> {
  const matching = events.filter((event) => matches(subscription, event))
  if (!isRoute(subscription) || matching.length === 0) return matching
  if (!targets[subscription.harnessTarget].isGated) return withoutDuplicates(db, subscription, matching)
  return withoutHeld(db, subscription, matching, after, events.at(-1)?.logId ?? after).then((waking) =>
    withoutDuplicates(db, subscription, waking),
  )
}

/** True when a subscription is a way to an agent among others. A push, and a client's own, get whatever they have asked for. */
function isRoute(subscription: Subscription): subscription is WakeSubscription {
  return subscription.kind === 'wake' && !targets[subscription.harnessTarget].isOfClient
}

/** True when the cache has an event after a logId that may be for a subscription. Undefined: the cache does not reach back that far. */
export function hasMoreCached(recent: RecentEvents, subscription: Subscription, after: number): boolean | undefined {
  const page = recentPage(recent, subscription, { after, upTo: Number.MAX_SAFE_INTEGER, limit: 1 })
  return page && page.length > 0
}

/** The next events of a subscription's audience, from the cache. Undefined: the cache does not reach back that far. */
export function recentPage(recent: RecentEvents, subscription: Subscription, range: PageRange): LogEvent[] | undefined {
  const { projectId, audience } = subscription
  return recent.page(projectId, audience, range, triggerOf(subscription))
}

/** The next events of a subscription's audience, from the log. */
export function readPage(db: Reader, subscription: Subscription, range: PageRange): Promise<LogEvent[]> {
  const { projectId, audience } = subscription
  if (subscription.kind === 'push') return readTaskEvents(db, audience, range.after, range.limit, range.upTo)
  return readTriggerEvents(db, projectId, audience, subscription.trigger, range)
}

/** Without the events that were held when they were appended: the agent finds them at its next turn. */
async function withoutHeld(
  db: Reader,
  subscription: Subscription,
  events: readonly LogEvent[],
  after: number,
  upTo: number,
): Promise<readonly LogEvent[]> {
  const held = await heldWithin(db, subscription.id, after, upTo)
  return events.filter(({ logId }) => !held.has(logId))
}

/** Without the task events whose message wakes the same target through another subscription. Source: D9. */
export function withoutDuplicates(
  db: Reader,
  subscription: Subscription,
  events: readonly LogEvent[],
): readonly LogEvent[] | Promise<readonly LogEvent[]> {
  if (!isRoute(subscription) || !events.some(comesWithMessage)) return events
  return withoutWoken(db, subscription, events)
}

async function withoutWoken(
  db: Reader,
  subscription: WakeSubscription,
  events: readonly LogEvent[],
): Promise<readonly LogEvent[]> {
  const { agentId, harnessTarget } = subscription
  const siblings = (await db.all(mailSubscriptions, { agentId, harnessTarget })).map(wakeFromRow)
  return events.filter((event) => !isWokenBySibling(subscription, event, siblings))
}

/** Returns those of the messages that reached an agent by another route than a wake. */
export type FindDelivered = (agentId: string, messageIds: readonly string[]) => Promise<ReadonlyMap<string, HandedOver>>

/**
 * Without the mail that already reached its recipient by another route, and the task changes that this mail caused. A recovery keeps
 * what a session took that has ended and left it unread. Source: D9, D30, D31, D38.
 */
export async function withoutDelivered(
  findDelivered: FindDelivered | undefined,
  subscription: Subscription,
  events: readonly LogEvent[],
): Promise<readonly LogEvent[]> {
  if (!findDelivered || !isRoute(subscription)) return events
  const appears = subscription.resumeWithDigest || subscription.announcesWaiting
  return withoutHandedOver(findDelivered, subscription.agentId, events, ({ lostAt }) => !appears || lostAt === null)
}

/** Without the events whose message reached an agent by another route than a wake in such a way that it `counts`. */
export async function withoutHandedOver(
  findDelivered: FindDelivered,
  agentId: string,
  events: readonly LogEvent[],
  counts: (handed: HandedOver) => boolean,
): Promise<readonly LogEvent[]> {
  const messageIds = events.map(messageIdOf).filter((id) => id !== undefined)
  if (messageIds.length === 0) return events
  const delivered = await findDelivered(agentId, messageIds)
  if (delivered.size === 0) return events
  return events.filter((event) => {
    const handed = delivered.get(messageIdOf(event) ?? '')
    return handed === undefined || !counts(handed)
  })
}
