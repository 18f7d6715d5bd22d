import type { Reader } from '../../storage/database.ts'
import { limited, p, sql, statement } from '../../storage/statement.ts'
import { isToAgent } from '../messages/to-session.ts'

/** The unread mail of an agent: its ids, and when the oldest was sent (ms since the epoch; null: there is none). */
export interface Unread {
  readonly messageIds: ReadonlySet<string>
  readonly oldestAt: number | null
}

const unreadMax = 10_000

// The unread mail is found in its index alone; then each row is looked up. One condition on both would read the whole inbox.
const toAgent = sql`cross join message_recipient r where r.agent_id = ${p('agentId')} and r.message_id = u.message_id and ${isToAgent}`
const unread = statement<{ agentId: string; limit: number }, { messageId: string }>(
  sql`select u.message_id as "messageId" from (select message_id from message_recipient
      where agent_id = ${p('agentId')} and status = 'sent' order by message_id desc ${limited}) u
    ${toAgent} order by u.message_id desc`,
)
const any = statement<{ agentId: string }, { one: number }>(
  sql`select 1 as "one" from (select message_id from message_recipient where agent_id = ${p('agentId')} and status = 'sent') u
    ${toAgent} limit 1`,
)
const sentAt = statement<{ messageId: string }, { createdAt: number }>(
  sql`select created_at as "createdAt" from message where id = ${p('messageId')}`,
)

/** Returns the newest unread mail to an agent, at most ten thousand messages, without the mail to one of its sessions. Source: D29, D26. */
export async function findUnread(db: Reader, agentId: string): Promise<Unread> {
  const rows = await db.all(unread, { agentId, limit: unreadMax })
  const oldest = rows.at(-1)
  const message = oldest && (await db.get(sentAt, oldest))
  return { messageIds: new Set(rows.map(({ messageId }) => messageId)), oldestAt: message?.createdAt ?? null }
}

/** Whether there is unread mail to an agent, other than to one of its sessions. One look into an index. */
export async function hasUnread(db: Reader, agentId: string): Promise<boolean> {
  return (await db.get(any, { agentId })) !== undefined
}
