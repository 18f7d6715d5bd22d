import type { LogEvent } from '../../log/event.ts'
import { type FindDelivered, withoutHandedOver } from '../read/pending.ts'
import { readReleasedEvents } from '../read/released.ts'
import { readWaitingEvents } from '../read/waiting.ts'
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
  if (!announcesWaiting && announcesHeld === 0) return undefined
  const { cursorLogId } = lease.progress
  const events = new Map<number, LogEvent>()
  const announces = announcesWaiting && !lease.hasAnnounced
  if (announces) lease.announced()
  if (announces && findWaiting) {
    const waiting = await readWaitingEvents(db, subscription, await findWaiting(agentId), cursorLogId)
    for (const event of await withoutTaken(findDelivered, agentId, waiting)) events.set(event.logId, event)
  }
  if (announcesHeld > 0 && !lease.hasSentReleased) {
    lease.sentReleased()
    const mail = { findDelivered, unread: await findWaiting?.(audience) }
    for (const event of await readReleasedEvents(db, subscription, mail, cursorLogId)) events.set(event.logId, event)
  }
  if (!announces && events.size === 0) return undefined
  return [...events.values()].sort((one, other) => one.logId - other.logId)
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
