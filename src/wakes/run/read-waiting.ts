import type { LogEvent } from '../../log/event.ts'
import { logBounds } from '../../log/event-store.ts'
import type { WakeSubscription } from '../../registry/subscriptions/subscription.ts'
import type { Reader } from '../../storage/database.ts'
import { type FindDelivered, withoutHandedOver } from '../read/pending.ts'
import { readReleasedEvents } from '../read/released.ts'
import { readWaitingEvents } from '../read/waiting.ts'
import { mayAnnounce } from '../rules/announcers.ts'
import type { Run } from './run.ts'

/**
 * Returns what waits for the agent of a run from before its cursor, once for each lease, if the subscription announces it: unread mail and
 * open tasks (if the gateway has mailboxes), and events that presence no longer holds. Mail that an answer brought to the live session
 * is not among them. Returns undefined when there is nothing to announce. Source: D29, D38, S1-10.
 */
export async function readWaiting({ context, subscription, lease }: Run): Promise<readonly LogEvent[] | undefined> {
  const { db, findWaiting, findDelivered } = context
  if (subscription.kind === 'push') return undefined
  const { announcesWaiting, announcesHeld, agentId, audience } = subscription
  const { cursorLogId } = lease.progress
  const announces = !lease.hasAnnounced && (announcesWaiting || (await hasLost(db, subscription)))
  if (!announces && announcesHeld === 0) return undefined
  const events: LogEvent[] = []
  if (announces) lease.announced()
  if (announces && findWaiting) {
    const waiting = await readWaitingEvents(db, subscription, await findWaiting(agentId), cursorLogId)
    events.push(...(await withoutTaken(findDelivered, agentId, waiting)))
  }
  if (announcesHeld > 0 && !lease.hasSentReleased) {
    lease.sentReleased()
    const mail = { findDelivered, unread: await findWaiting?.(audience) }
    const known = new Set(events.map(({ logId }) => logId))
    const released = await readReleasedEvents(db, subscription, mail, cursorLogId)
    events.push(...released.filter(({ logId }) => !known.has(logId)))
  }
  if (!announces && events.length === 0) return undefined
  return events.sort((one, other) => one.logId - other.logId)
}

/** True when retention has removed what a subscription would recover: then the recovery is made of what waits too. Source: D39. */
async function hasLost(db: Reader, subscription: WakeSubscription): Promise<boolean> {
  if (!subscription.resumeWithDigest || !mayAnnounce(subscription)) return false
  return subscription.cursorLogId < (await logBounds(db, subscription.projectId)).prunedTo
}

/** Without the mail that the live session of an agent has got with an answer, and the tasks that came with it. */
async function withoutTaken(
  findDelivered: FindDelivered | undefined,
  agentId: string,
  events: readonly LogEvent[],
): Promise<readonly LogEvent[]> {
  if (!findDelivered) return events
  return withoutHandedOver(findDelivered, agentId, events, ({ isUnread, lostAt }) => isUnread && lostAt === null)
}
