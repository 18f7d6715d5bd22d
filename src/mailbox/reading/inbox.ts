import { readBoundedPage } from '../../lib/bounded-page.ts'
import { messageIdFloor } from '../../lib/ids.ts'
import { sizeLimits } from '../../limits.ts'
import { identityFrom } from '../../registry/agents/identity.ts'
import type { Reader } from '../../storage/database.ts'
import { limited, p, type SQL, type Statement, sql, statement } from '../../storage/statement.ts'
import type { MessageType } from '../../words/mail.ts'
import {
  beginOf,
  edgeStatement,
  idsInThread,
  inInterval,
  type MailOrder,
  MailSteps,
  orderedEntries,
  threadEdges,
} from '../messages/id-intervals.ts'
import type { MailMessage, Recipient } from '../messages/message.ts'
import { type MessageRow, messageColumns, messageFromRow, senderColumn, sizeOfRow } from '../messages/message-store.ts'
import { recipientColumns } from '../messages/recipient-store.ts'

export interface InboxQuery {
  readonly agentId: string
  readonly unread?: boolean | undefined
  readonly threadId?: string | undefined
  readonly signalType?: string | undefined
  readonly type?: MessageType | undefined
  /** Only mail of these projects; absent: of all. */
  readonly projects?: readonly string[] | undefined
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

/**
 * Reads a page of an agent's mail, oldest or newest first. Pages are positions, so mail that arrives meanwhile shifts nothing. Source: S4-9.
 * @param entries the most messages that one statement looks at, where it looks for others than those that an index has
 */
export async function readInbox(db: Reader, query: InboxQuery, entries?: number): Promise<InboxPage> {
  const { order, after, limit, unread, since, projects, ...rest } = query
  const named = { ...rest, projects: projects && ` ${projects.join(' ')} ` }
  const given = Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined))
  const names = [...(unread ? ['unread'] : []), ...(since === undefined ? [] : ['since']), ...Object.keys(given)]
  const filters = names.filter((name) => name !== 'agentId') as FilterName[]
  const { page, edge } = statementsOf(filters, order, query.type)
  const params = { ...given, ...(since === undefined ? {} : { since: messageIdFloor(since) }) }
  const steps = new MailSteps(db, edge, { order, entries, params })
  const read = (last: Row | undefined, count: number) =>
    steps.next(last?.messageId ?? after ?? beginOf(order), count, (interval, limit) =>
      db.all(page, { limit, ...params, ...interval }),
    )
  const bounds = { limit, sizeMax: sizeLimits.page.max, sizeOf: sizeOfRow }
  const { items, more, size } = await readBoundedPage(read, bounds)
  return { mails: items.map(fromRow), more, size, last: items.at(-1)?.messageId }
}

type Row = MessageRow & Recipient & { from: string | null }

const filters = {
  unread: sql`r.status = 'sent'`,
  since: sql`r.message_id >= ${p('since')}`,
  signalType: sql`r.signal_type = ${p('signalType')} and r.signal_type is not null`,
  type: sql`r.type = ${p('type')}`,
  // The id of a project has no character that means something in a pattern.
  projects: sql`exists (select 1 from message sent where sent.id = r.message_id
    and ${p('projects')} like '% ' || sent.project_id || ' %')`,
}
type FilterName = keyof typeof filters | 'threadId'

interface Statements {
  readonly page: Statement<object, Row>
  /** undefined: an index has exactly the list. */
  readonly edge: Statement<object, { id: string }> | undefined
}

const prepared = new Map<string, Statements>()

/** Returns the statements of a combination of filters. Each combination is prepared once. */
function statementsOf(names: readonly FilterName[], order: MailOrder, type?: MessageType): Statements {
  // The index of types leaves out the two types that most mail has.
  const isRare = type !== undefined && type !== 'msg' && type !== 'task'
  const shape = [...names, order, isRare].join()
  const known = prepared.get(shape)
  if (known) return known
  // The ids of the page are found first, however large the inbox is. Then its rows are read.
  const { ids, edge } = names.includes('threadId') ? inThread(names, order) : ofRecipient(names, order, isRare)
  const direction = order === 'oldest' ? sql.raw('asc') : sql.raw('desc')
  const page = statement<object, Row>(sql`select ${messageColumns}, ${recipientColumns}, ${senderColumn} as "from"
    from message_recipient r join message m on m.id = r.message_id left join agent a on a.id = m.sender_id
    where ${own} and r.message_id in (${ids}) order by r.message_id ${direction} ${limited}`)
  const made = { page, edge }
  prepared.set(shape, made)
  return made
}

interface Ids {
  readonly ids: SQL
  readonly edge: Statements['edge']
}

const own = sql`r.agent_id = ${p('agentId')}`
const allOf = (terms: readonly SQL[]): SQL => sql.join([...terms], sql` and `)
const termsOf = (names: readonly FilterName[]): SQL[] =>
  names.filter((name) => name !== 'threadId').map((name) => filters[name])

/** A thread is read from the index of threads. */
function inThread(names: readonly FilterName[], order: MailOrder): Ids {
  const isOwn = allOf([own, sql`r.message_id = m.id`, ...termsOf(names)])
  const ids = idsInThread(sql`(select 1 from message_recipient r where ${isOwn} limit 1) is not null`, order)
  return { ids, edge: threadEdges[order] }
}

/** Everything else is read from one of the recipient's indexes: the one that leaves out most. */
function ofRecipient(names: readonly FilterName[], order: MailOrder, isRare: boolean): Ids {
  const indexed = [...(isRare ? ['type'] : []), 'signalType', 'unread'].find((name) =>
    names.includes(name as FilterName),
  )
  const isFound = (name: FilterName): boolean => name === indexed || name === 'since'
  const also = termsOf(names.filter((name) => !isFound(name)))
  const within = [own, ...termsOf(names.filter(isFound))]
  if (indexed === 'type') within.push(sql`r.type <> 'msg' and r.type <> 'task'`)
  const id = sql`r.message_id`
  const from = sql`from message_recipient r where ${allOf(within)}`
  const interval = sql`${from} and ${inInterval(id, order)}`
  if (also.length === 0) {
    const direction = order === 'oldest' ? sql.raw('asc') : sql.raw('desc')
    return { ids: sql`select ${id} ${interval} order by ${id} ${direction} ${limited}`, edge: undefined }
  }
  // The entries are in their order: the first that match are the first of the list. Only the index finds them, by no other filter.
  const isAlso = allOf(also)
  const entries = orderedEntries(id, order)
  const ids = indexed
    ? // Asked for a column that the index does not have, SQLite reads the whole inbox by its key.
      sql`select e.message_id from (select ${id} ${interval} ${entries}) e
        where (select 1 from message_recipient r where ${own} and r.message_id = e.message_id and ${isAlso} limit 1) is not null`
    : sql`select ${id} from (select r.message_id, r.status, r.type, r.signal_type ${interval} ${entries}) r where ${isAlso}`
  return {
    ids: sql`${ids} ${limited}`,
    edge: edgeStatement(from, id, order),
  }
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
