import type { Reader } from '../../storage/database.ts'
import { limited, p, sql, statement } from '../../storage/statement.ts'
import { isToSession } from '../messages/to-session.ts'

/** The unread mail of an agent: its ids, and when the oldest was sent (ms since the epoch; null: there is none). */
interface UnreadMail {
  readonly messageIds: ReadonlySet<string>
  readonly oldestAt: number | null
}

/** How many unread messages of an agent are looked at. */
export const unreadMax = 10_000
/** If more unread signals to sessions than this are newer than all mail, they hide the mail. */
const lookMax = 200

// Each is one range of an index of its own. One statement for both would read the whole inbox.
const newestUnread = statement<{ agentId: string; limit: number }, { messageId: string }>(
  sql`select message_id as "messageId" from message_recipient where agent_id = ${p('agentId')} and status = 'sent'
    order by message_id desc ${limited}`,
)
const newestToSessions = statement<{ agentId: string; limit: number }, { messageId: string }>(
  sql`select message_id as "messageId" from message_recipient where agent_id = ${p('agentId')} and ${isToSession}
    order by message_id desc ${limited}`,
)
const sentAt = statement<{ messageId: string }, { createdAt: number }>(
  sql`select created_at as "createdAt" from message where id = ${p('messageId')}`,
)

/** Returns the newest unread mail to an agent, at most ten thousand messages, without the mail to one of its sessions. Source: D29, D26. */
export async function findUnread(db: Reader, agentId: string): Promise<UnreadMail> {
  const messageIds = await unreadIds(db, agentId, unreadMax)
  const oldest = messageIds.at(-1)
  const message = oldest === undefined ? undefined : await db.get(sentAt, { messageId: oldest })
  return { messageIds: new Set(messageIds), oldestAt: message?.createdAt ?? null }
}

/** True when there is unread mail to an agent, other than to one of its sessions. Looks at the newest. */
export async function hasUnread(db: Reader, agentId: string): Promise<boolean> {
  return (await unreadIds(db, agentId, lookMax)).length > 0
}

/** Newest first. */
async function unreadIds(db: Reader, agentId: string, limit: number): Promise<string[]> {
  const unread = await db.all(newestUnread, { agentId, limit })
  if (unread.length === 0) return []
  const toSessions = new Set((await db.all(newestToSessions, { agentId, limit })).map(({ messageId }) => messageId))
  return unread.map(({ messageId }) => messageId).filter((id) => !toSessions.has(id))
}
