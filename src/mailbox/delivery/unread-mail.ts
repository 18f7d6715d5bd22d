import { messageIdFloor } from '../../lib/ids.ts'
import type { PastEvent } from '../../log/event.ts'
import { identityFrom } from '../../registry/agents/identity.ts'
import type { Reader } from '../../storage/database.ts'
import { limited, p, sql, statement } from '../../storage/statement.ts'
import { type AnnouncedMail, messageSent } from '../messages/message-event.ts'
import { senderColumn, threadColumn } from '../messages/message-store.ts'
import { isToAgent } from '../messages/to-session.ts'
import { unreadMax } from './unread.ts'

interface Row extends Omit<AnnouncedMail, 'broadcast' | 'taggedConcepts'> {
  readonly broadcast: number
  readonly taggedConcepts: string
  readonly createdAt: number
  readonly handle: string | null
}

const pageMax = 500
/** The id of a message may have been made this long before its row. */
const slackMs = 60_000
/** Sorts after the id of every message. */
const afterAll = 'N'

// Mail that waits for no route, and that none has delivered, is silent for this recipient.
const unreadPage = statement<{ agentId: string; after: string; before: string; limit: number }, Row>(
  sql`select m.id, m.sender_id as "senderId", m.subject, m.priority,
    case when r.pending = 0 and r.delivery_method is null then 'silent' else m.wake_policy end as "wakePolicy",
    m.tagged_concepts as "taggedConcepts", m.in_reply_to as "inReplyTo", ${threadColumn} as "threadId", m.task_id as "taskId",
    m.broadcast, m.type, m.signal_type as "signalType", m.created_at as "createdAt", ${senderColumn} as "handle"
  from message_recipient r join message m on m.id = r.message_id left join agent a on a.id = m.sender_id
  where r.agent_id = ${p('agentId')} and r.message_id in (select message_id from message_recipient
    where agent_id = ${p('agentId')} and status = 'sent' and ${isToAgent} and message_id > ${p('after')}
      and message_id < ${p('before')} order by message_id ${limited})
  order by r.message_id`,
)

/** Returns the events of an agent's unread mail from before an instant (ms since the epoch), made from the mail itself, the oldest first. */
export async function unreadBefore(db: Reader, agentId: string, beforeMs: number): Promise<PastEvent[]> {
  const before = beforeMs === Number.POSITIVE_INFINITY ? afterAll : messageIdFloor(beforeMs + slackMs)
  const found: PastEvent[] = []
  for (let after = ''; found.length < unreadMax; ) {
    const page = await db.all(unreadPage, { agentId, after, before, limit: pageMax })
    for (const row of page) if (row.createdAt < beforeMs) found.push(eventOf(row, agentId))
    const last = page.at(-1)
    if (!last || page.length < pageMax) break
    after = last.id
    await new Promise(setImmediate)
  }
  return found
}

function eventOf({ handle, createdAt, broadcast, taggedConcepts, ...row }: Row, agentId: string): PastEvent {
  const mail = { ...row, broadcast: broadcast === 1, taggedConcepts: JSON.parse(taggedConcepts) as string[] }
  return { ...messageSent(mail, identityFrom(row.senderId, handle), [agentId]), createdAt }
}
