import { readBoundedPage } from '../../lib/bounded-page.ts'
import type { Reader, Transaction } from '../../storage/database.ts'
import { RowsStatement } from '../../storage/rows.ts'
import { joined, lateFilter, limited, p, sql, statement } from '../../storage/statement.ts'
import type { DeliveryMethod, MailMessage } from '../messages/message.ts'
import { type MessageRow, messageColumns, messageFromRow, senderColumn, sizeOfRow } from '../messages/message-store.ts'
import { isToAgent } from '../messages/to-session.ts'

/** Mail that no route has delivered yet, with its sender's handle. */
export interface WaitingMail extends MailMessage {
  readonly from: string | null
}

/** Waiting mail that wakes its recipient. */
type UrgentMail = Pick<MailMessage, 'id' | 'threadId' | 'senderId'>

const any = statement<{ agentId: string }, { one: number }>(
  sql`select 1 as "one" from message_recipient where agent_id = ${p('agentId')} and pending = 1 limit 1`,
)
const counted = statement<{ agentId: string; limit: number }, { total: number }>(
  sql`select count(*) as "total" from (select 1 from message_recipient where agent_id = ${p('agentId')} and pending = 1 ${limited}) as waiting`,
)
const oldest = statement<
  { agentId: string; after: string; limit: number },
  MessageRow & { from: string | null }
>(sql`select ${messageColumns}, ${senderColumn} as "from" from message_recipient r join message m on m.id = r.message_id
    left join agent a on a.id = m.sender_id
  where r.agent_id = ${p('agentId')} and r.message_id in (select message_id from message_recipient
    where agent_id = ${p('agentId')} and pending = 1 and message_id > ${p('after')} order by message_id ${limited})
  order by r.message_id`)
const urgent = statement<{ agentId: string; limit: number }, UrgentMail>(
  sql`select m.id, m.thread_id as "threadId", m.sender_id as "senderId" from message_recipient r join message m on m.id = r.message_id
    where r.agent_id = ${p('agentId')} and r.pending = 1 and ${lateFilter(sql`m.wake_policy = 'immediate'`)} order by r.message_id ${limited}`,
)
// The guard on `pending` makes two routes at the same time deliver each message once.
const deliver = statement<{
  agentId: string
  messageId: string
  method: string
  sessionId: string | null
  now: number
}>(sql`update message_recipient set pending = 0, receipt = 'written', delivered_at = ${p('now')}, delivery_method = ${p('method')},
    session_id = coalesce(${p('sessionId')}, session_id)
  where agent_id = ${p('agentId')} and message_id = ${p('messageId')} and pending = 1`)
// Not when the recipient has reported a status since. Mail to a session waits for that session alone.
const undo = statement<{ agentId: string; messageId: string }>(sql`update message_recipient
  set pending = case when ${isToAgent} then 1 else 0 end, receipt = 'accepted', delivered_at = null, delivery_method = null
  where agent_id = ${p('agentId')} and message_id = ${p('messageId')} and pending = 0 and status = 'sent'
    and delivery_method in ('piggyback', 'startup_drain')`)
const undoInSession = statement<{
  agentId: string
  sessionId: string
  messageId: string
  since: number
}>(sql`update message_recipient
  set pending = 1, receipt = 'accepted', delivered_at = null, delivery_method = null
  where agent_id = ${p('agentId')} and message_id = ${p('messageId')} and pending = 0 and status = 'sent' and ${isToAgent}
    and delivery_method = 'piggyback' and session_id = ${p('sessionId')} and delivered_at >= ${p('since')}`)
const deliverByWake = new RowsStatement(
  'text text bigint',
  (
    rows,
  ) => sql`update message_recipient set pending = 0, receipt = 'written', delivered_at = v.column3, delivery_method = 'push'
  from (values ${rows}) v where agent_id = ${joined('v.column1')} and message_id = ${joined('v.column2')} and ${lateFilter(sql`pending = 1`)}`,
)

/** True when any mail waits. One look into an index, because every call of an agent asks. */
export async function hasWaiting(db: Reader, agentId: string): Promise<boolean> {
  return (await db.get(any, { agentId })) !== undefined
}

/** Returns how many messages wait, at most `max`. Marks nothing. */
export async function countWaiting(db: Reader, agentId: string, max: number): Promise<number> {
  return (await db.get(counted, { agentId, limit: max }))?.total ?? 0
}

/** Returns waiting mail, oldest first, up to a number of messages or of characters. */
export async function readWaiting(
  db: Reader,
  agentId: string,
  { messages, characters }: { readonly messages: number; readonly characters: number },
): Promise<WaitingMail[]> {
  const read = (last: MessageRow | undefined, limit: number) =>
    db.all(oldest, { agentId, after: last?.id ?? '', limit })
  const page = await readBoundedPage(read, { limit: messages, sizeMax: characters, sizeOf: sizeOfRow })
  return page.items.map((row) => ({ from: row.from, ...messageFromRow(row) }))
}

/** Returns the waiting mail of an agent that wakes it, oldest first. Marks nothing. */
export function readUrgent(db: Reader, agentId: string, limit: number): Promise<UrgentMail[]> {
  return db.all(urgent, { agentId, limit })
}

/** Records that a route delivered a message. Returns false when another route was first. */
export async function recordDelivery(
  tx: Transaction,
  agentId: string,
  messageId: string,
  method: DeliveryMethod,
  sessionId: string | null,
): Promise<boolean> {
  return (await tx.run(deliver, { agentId, messageId, method, sessionId, now: tx.now })) > 0
}

/** Makes a message wait again whose answer never reached its reader. */
export async function undoDelivery(tx: Transaction, agentId: string, messageId: string): Promise<void> {
  await tx.run(undo, { agentId, messageId })
}

/** The same for mail that an answer to one session brought since an instant. Returns whether it waits again. */
export async function undoDeliveryInSession(
  tx: Transaction,
  agentId: string,
  messageId: string,
  { sessionId, since }: { readonly sessionId: string; readonly since: number },
): Promise<boolean> {
  return (await tx.run(undoInSession, { agentId, messageId, sessionId, since })) > 0
}

/** Records that acknowledged wakes delivered messages. */
export async function recordWakes(
  tx: Transaction,
  delivered: readonly { readonly agentId: string; readonly messageId: string }[],
): Promise<void> {
  const rows = delivered.map(({ agentId, messageId }) => [agentId, messageId, tx.now])
  await deliverByWake.run(tx, rows)
}
