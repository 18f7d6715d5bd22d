import { findUnread, hasUnread } from '../mailbox/delivery/unread.ts'
import { unreadBefore } from '../mailbox/delivery/unread-mail.ts'
import type { Reader } from '../storage/database.ts'
import { hasOpenTasks, listOpenTasks, openTasksBefore } from '../tasks/open-tasks.ts'
import type { FindWaiting } from '../wakes/read/waiting.ts'

/** Makes the look-up of what waits for an agent: its unread mail, and the tasks that it has to work on. Source: D29. */
export function createFindWaiting(db: Reader): FindWaiting {
  return async (agentId) => {
    const [unread, taskIds] = await Promise.all([findUnread(db, agentId), listOpenTasks(db, agentId)])
    return {
      ...unread,
      taskIds,
      mailBefore: (before) => unreadBefore(db, agentId, before),
      tasksBefore: (before, ids, projectId) => openTasksBefore(db, before, ids, projectId),
    }
  }
}

/** True when anything waits for an agent. */
export async function hasWaiting(db: Reader, agentId: string): Promise<boolean> {
  return (await hasUnread(db, agentId)) || hasOpenTasks(db, agentId)
}
