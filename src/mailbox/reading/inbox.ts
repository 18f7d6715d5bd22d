import { readBoundedPage } from '../../lib/bounded-page.ts'
import { messageIdFloor } from '../../lib/ids.ts'
import { outputLimits } from '../../limits.ts'
import { identityFrom } from '../../registry/agents/identity.ts'
import type { Reader } from '../../storage/database.ts'
import { limited, p, type SQL, type Statement, sql, statement } from '../../storage/statement.ts'
import type { MailMessage, MessageType, Recipient } from '../messages/message.ts'
import {
  idsInThread,
  type MessageRow,
  messageColumns,
  messageFromRow,
  senderColumn,
  sizeOfRow,
} from '../messages/message-store.ts'
import { recipientColumns } from '../messages/recipient-store.ts'

export interface InboxQuery {
  readonly agentId: string
  readonly unread?: boolean | undefined
  readonly threadId?: string | undefined
  readonly signalType?: string | undefined
  readonly type?: MessageType | undefined
  /** Only mail from this instant on, ms since the epoch. */
  readonly since?: number | undefined
  readonly order: 'oldest' | 'newest'
  /** The messageId of the last message of the page before. */
  readonly after?: string | undefined
  readonly limit: number
}

/** A message with its state for one recipient. */
export interface InboxMail {
  readonly message: MailMessage
  readonly recipient: Recipient
  readonly from: string
}

export interface InboxPage {
  readonly mails: readonly InboxMail[]
  readonly more: boolean
  /** Of the mail that was read, as `sizeOfRow` counts it. */
  readonly size: number
  /** The messageId after which the next page begins. */
  readonly last: string | undefined
}

/** Reads a page of an agent's mail, oldest or newest first. Pages are positions, so mail that arrives meanwhile shifts nothing. Source: S4-9. */
export async function readInbox(db: Reader, query: InboxQuery): Promise<InboxPage> {
  const { agentId, order, after, limit, unread, since, ...rest } = query
  const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined))
  const names = [...(unread ? ['unread'] : []), ...(since === undefined ? [] : ['since']), ...Object.keys(given)]
  const page = statementOf(names as FilterName[], order, query.type)
  const begin = after ?? (order === 'oldest' ? '' : 'N')
  const params = { ...given, agentId, ...(since === undefined ? {} : { since: messageIdFloor(since) }) }
  const read = (last: Row | undefined, count: number) =>
    db.all(page, { ...params, after: last?.messageId ?? begin, limit: count })
  const bounds = { limit, sizeMax: outputLimits.mailPage.max, sizeOf: sizeOfRow }
  const { items, more, size } = await readBoundedPage(read, bounds)
  return { mails: items.map(fromRow), more, size, last: items.at(-1)?.messageId }
}

type Row = MessageRow & Recipient & { from: string | null }

const filters = {
  unread: sql`r.status = 'sent'`,
  since: sql`r.message_id >= ${p('since')}`,
  signalType: sql`r.signal_type = ${p('signalType')} and r.signal_type is not null`,
  type: sql`r.type = ${p('type')}`,
}
type FilterName = keyof typeof filters | 'threadId'

const prepared = new Map<string, Statement<object, Row>>()

/** Returns the statement of a combination of filters. Each combination is prepared once. */
function statementOf(
  names: readonly FilterName[],
  from: 'oldest' | 'newest',
  type?: MessageType,
): Statement<object, Row> {
  // The index of types leaves out the two types that most mail has.
  const isRare = type !== undefined && type !== 'msg' && type !== 'task'
  const shape = [...names, from, isRare].join()
  const known = prepared.get(shape)
  if (known) return known
  const terms: SQL[] = names.filter((name) => name !== 'threadId').map((name) => filters[name])
  if (isRare) terms.push(sql`r.type <> 'msg' and r.type <> 'task'`)
  // A thread is read from the index of threads, everything else from the recipient's.
  const inThread = names.includes('threadId')
  const id = inThread ? sql.raw('m.id') : sql.raw('r.message_id')
  terms.push(from === 'oldest' ? sql`${id} > ${p('after')}` : sql`${id} < ${p('after')}`)
  const direction = from === 'oldest' ? sql.raw('asc') : sql.raw('desc')
  const own = sql`r.agent_id = ${p('agentId')}`
  const within = sql`${own} and ${sql.join(terms, sql` and `)}`
  const order = sql`order by ${id} ${direction} ${limited}`
  const mails = sql`message_recipient r join message m on m.id = r.message_id`
  // The ids of the page are found in an index alone, however large the inbox is. Then its rows are read.
  const ids = inThread
    ? idsInThread(mails, sql`and ${within}`, order)
    : sql`select r.message_id from message_recipient r where ${within} ${order}`
  const made = statement<object, Row>(sql`select ${messageColumns}, ${recipientColumns}, ${senderColumn} as "from"
    from ${mails} left join agent a on a.id = m.sender_id
    where ${own} and r.message_id in (${ids}) order by r.message_id ${direction} ${limited}`)
  prepared.set(shape, made)
  return made
}

function fromRow(row: Row): InboxMail {
  const { agentId, messageId, status, receipt, sessionId, deliveredAt, deliveryMethod, seenAt, ackedAt, endedAt } = row
  const { updatedAt, ...message } = row
  const recipient = {
    agentId,
    messageId,
    status,
    receipt,
    sessionId,
    deliveredAt,
    deliveryMethod,
    seenAt,
    ackedAt,
    endedAt,
    updatedAt,
  }
  return { message: messageFromRow(message), recipient, from: identityFrom(row.senderId, row.from) }
}
