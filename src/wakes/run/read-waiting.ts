import type { LogEvent } from '../../log/event.ts'
import { readReleasedEvents } from '../read/released.ts'
import { readWaitingEvents } from '../read/waiting.ts'
import type { Run } from './run.ts'

/**
 * Returns what waits for the agent of a run from before its cursor, once for each lease, if the subscription announces it: unread mail and
 * open tasks (if the gateway has mailboxes), and events that presence no longer holds. Source: D29, S1-10.
 */
export async function readWaiting({ context, subscription, lease }: Run): Promise<readonly LogEvent[]> {
  const { db, findWaiting, findDelivered } = context
  if (subscription.kind === 'push') return []
  const { announcesWaiting, announcesHeld, agentId, audience } = subscription
  if (!announcesWaiting && announcesHeld === 0) return []
  const { cursorLogId } = lease.progress
  const events = new Map<number, LogEvent>()
  if (announcesWaiting && !lease.hasAnnounced && findWaiting) {
    lease.announced()
    const waiting = await readWaitingEvents(db, subscription, await findWaiting(agentId), cursorLogId)
    for (const event of waiting) events.set(event.logId, event)
  }
  if (announcesHeld > 0 && !lease.hasSentReleased) {
    lease.sentReleased()
    const mail = { findDelivered, unread: await findWaiting?.(audience) }
    for (const event of await readReleasedEvents(db, subscription, mail, cursorLogId)) events.set(event.logId, event)
  }
  return [...events.values()].sort((one, other) => one.logId - other.logId)
}
