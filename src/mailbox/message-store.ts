import type { Reader, Transaction } from '../storage/database.ts'
import { p, sql, statement } from '../storage/statement.ts'

/** One durable piece of mail. `body` is the task's message that it came with. */
export interface MailMessage {
  readonly id: string
  readonly projectId: string
  readonly senderId: string
  readonly subject: string
  readonly taskId: string | null
  readonly taskSeq: number | null
  readonly priority: string
  readonly wakePolicy: string
  /** JSON */
  readonly taggedConcepts: string
  readonly inReplyTo: string | null
  readonly threadId: string
  readonly createdAt: number
}

const columns =
  sql.raw(`id, project_id as "projectId", sender_id as "senderId", subject, task_id as "taskId", task_seq as "taskSeq", priority,
  wake_policy as "wakePolicy", tagged_concepts as "taggedConcepts", in_reply_to as "inReplyTo", thread_id as "threadId", created_at as "createdAt"`)
const insert =
  statement<MailMessage>(sql`insert into message (id, project_id, sender_id, subject, task_id, task_seq, priority, wake_policy,
    tagged_concepts, in_reply_to, thread_id, created_at)
  values (${p('id')}, ${p('projectId')}, ${p('senderId')}, ${p('subject')}, ${p('taskId')}, ${p('taskSeq')}, ${p('priority')},
    ${p('wakePolicy')}, ${p('taggedConcepts')}, ${p('inReplyTo')}, ${p('threadId')}, ${p('createdAt')})`)
const insertRecipient = statement<{ agentId: string; messageId: string; now: number }>(sql`insert into message_recipient
  (agent_id, message_id, status, updated_at) values (${p('agentId')}, ${p('messageId')}, 'sent', ${p('now')})`)
const byId = statement<{ id: string }, MailMessage>(sql`select ${columns} from message where id = ${p('id')}`)
const newestOfTask = statement<{ taskId: string }, MailMessage>(
  sql`select ${columns} from message where task_id = ${p('taskId')} order by task_seq desc limit 1`,
)
const recipients = statement<{ messageId: string }, { agentId: string; status: string; updatedAt: number }>(
  sql`select agent_id as "agentId", status, updated_at as "updatedAt" from message_recipient where message_id = ${p('messageId')} order by agent_id`,
)

export async function insertMail(
  tx: Transaction,
  message: MailMessage,
  recipientIds: readonly string[],
): Promise<void> {
  await tx.run(insert, message)
  for (const agentId of recipientIds) await tx.run(insertRecipient, { agentId, messageId: message.id, now: tx.now })
}

export function findMail(db: Reader, id: string): Promise<MailMessage | undefined> {
  return db.get(byId, { id })
}

/** The newest mail of a task: what a follow-up answers. */
export function findNewestMailOfTask(db: Reader, taskId: string): Promise<MailMessage | undefined> {
  return db.get(newestOfTask, { taskId })
}

export function listRecipients(
  db: Reader,
  messageId: string,
): Promise<{ agentId: string; status: string; updatedAt: number }[]> {
  return db.all(recipients, { messageId })
}
