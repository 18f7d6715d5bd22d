import type { LogEvent } from '../../log/event.ts'
import { readWaitingEvents } from '../read/waiting.ts'
import type { Run } from './run.ts'

/**
 * Returns what waits for the agent of a run from before its cursor, where the subscription announces that: once for each lease.
 * Nothing where the gateway has no mailboxes. Source: D29.
 */
export async function readWaiting({ context, subscription, lease }: Run): Promise<readonly LogEvent[]> {
  const { db, findWaiting } = context
  if (subscription.kind === 'push' || !subscription.announcesWaiting || lease.hasAnnounced || !findWaiting) return []
  lease.announced()
  return readWaitingEvents(db, subscription, await findWaiting(subscription.agentId), lease.progress.cursorLogId)
}
