import { firstMailOf } from '../../lib/ids.ts'
import type { RowOf } from '../../storage/columns.ts'
import type { Reader, Transaction } from '../../storage/database.ts'
import { RowTable } from '../../storage/row-table.ts'
import { limited, ownedBetween, p, type SQL, sql, statement } from '../../storage/statement.ts'
import { type IdInterval, idsInThread } from './id-intervals.ts'
import { type MailMessage, messageFields } from './message.ts'

export type MessageRow = RowOf<typeof messageFields>

const messages = new RowTable('message', messageFields)
export const messageColumns = messages.select('m')

/** The thread of message `m`. A message that begins one has '' in its row. */
export const threadColumn = sql.raw("coalesce(nullif(m.thread_id, ''), m.id)")

/** The identity of the sender `a` in the project of message `m`. Source: S4-14. */
export const senderColumn = sql.raw(
  `case when a.project_id = m.project_id then a.handle else a.project_id || ':' || a.handle end`,
)

const insert = messages.insert()
const byId = statement<{ id: string }, MessageRow>(sql`select ${messageColumns} from message m where m.id = ${p('id')}`)
// The first mail of a task is found by its id.
const newestLater = statement<{ taskId: string }, MessageRow>(sql`select ${messageColumns} from message m
  where m.task_id = ${p('taskId')} and m.task_id is not null and m.task_seq > 1
  order by m.task_seq desc limit 1`)
interface ThreadPart extends IdInterval {
  threadId: string
  projectId: string
  limit: number
}
// With its limit PostgreSQL looks a recipient up for each message; without it, it may read all mail of the agent first.
const threadOfProject = statement<ThreadPart, MessageRow>(
  pageOfThread(sql`(m.project_id = ${p('projectId')} or m.sender_id = 'operator' or (
    select 1 from message_recipient r where r.agent_id = 'operator' and r.message_id = m.id limit 1) is not null)`),
)
const threadOfAgent = statement<ThreadPart & { agentId: string }, MessageRow>(
  pageOfThread(sql`(m.sender_id = ${p('agentId')} or (
    select 1 from message_recipient r where r.agent_id = ${p('agentId')} and r.message_id = m.id limit 1) is not null)`),
)
// With the same id on both sides, PostgreSQL may walk over all messages in the order of the page.
function pageOfThread(isVisible: SQL): SQL {
  const ids = idsInThread(isVisible, 'oldest')
  return sql`select ${messageColumns} from (${ids}) page cross join message m
    where m.id = page.id /*postgres || '' */ order by page.id ${limited}`
}
const sentBefore = ownedBetween({ owner: 'm.sender_id', id: 'm.id' }, p('senderId'), { before: sql`${p('before')}` })
const sentBy = statement<{ senderId: string; before: string; limit: number }, MessageRow>(sql`select ${messageColumns}
  from message m where m.task_id is null and ${sentBefore}
  order by m.sender_id desc, m.id desc ${limited}`)

export async function insertMessage(tx: Transaction, message: MailMessage): Promise<void> {
  const threadId = message.threadId === message.id ? '' : message.threadId
  await tx.run(insert, messages.toRow({ ...message, threadId }))
}

export async function findMessage(db: Reader, id: string): Promise<MailMessage | undefined> {
  const row = await db.get(byId, { id })
  return row && messageFromRow(row)
}

/** Returns the newest mail of a task, which a follow-up answers. */
export async function findNewestMessageOfTask(db: Reader, taskId: string): Promise<MailMessage | undefined> {
  const row = (await db.get(newestLater, { taskId })) ?? (await db.get(byId, { id: firstMailOf(taskId) }))
  return row && messageFromRow(row)
}

/** Reads a part of a thread, oldest first: of what is in a project, or of what an agent sent and received. */
export async function readThread(db: Reader, part: ThreadPart, agentId: string | undefined): Promise<MailMessage[]> {
  const rows =
    agentId === undefined ? await db.all(threadOfProject, part) : await db.all(threadOfAgent, { agentId, ...part })
  return rows.map(messageFromRow)
}

/** Reads the mail of a sender before a message (`''`: from the newest), newest first. */
export async function readSent(db: Reader, senderId: string, before: string, limit: number): Promise<MailMessage[]> {
  return (await db.all(sentBy, { senderId, before: before || 'N', limit })).map(messageFromRow)
}

export function messageFromRow(row: MessageRow): MailMessage {
  const message = messages.fromRow(row)
  return { ...message, threadId: message.threadId || message.id }
}

/** Returns the size of a message's row in characters. */
export function sizeOfRow({ body, payload, taggedConcepts }: MessageRow): number {
  return rowSize + (body?.length ?? 0) + (payload?.length ?? 0) + taggedConcepts.length
}

/** Returns the same size for a message that was read. */
export function sizeOfMail({ body, payload, taggedConcepts }: MailMessage): number {
  const words = taggedConcepts.reduce((size, concept) => size + concept.length, 0)
  return rowSize + (body?.length ?? 0) + (payload === null ? 0 : JSON.stringify(payload).length) + words
}

/** The fields that every message has. */
const rowSize = 500
