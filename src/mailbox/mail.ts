import { Problem } from '../errors.ts'
import { newMessageId } from '../lib/ids.ts'
import type { NewEvent } from '../log/event.ts'
import type { Caller } from '../registry/caller.ts'
import type { Database, Transaction } from '../storage/database.ts'
import { findMail, findNewestMailOfTask, insertMail, listRecipients, type MailMessage } from './message-store.ts'

export interface MailInput {
  readonly sender: Caller
  readonly recipientId: string
  readonly projectId: string
  readonly subject: string
  readonly taskId: string
  readonly taskSeq: number
  readonly priority: string
  readonly wakePolicy: string
  readonly taggedConcepts: readonly string[]
}

/**
 * Puts a task's message into its recipient's mailbox, within the task's transaction, and answers the event to append
 * for it. A task's mail is one thread; a follow-up answers the mail before it. Source: D9, S1-24.
 */
export async function recordMail(tx: Transaction, input: MailInput): Promise<{ event: NewEvent }> {
  const before = input.taskSeq > 1 ? await findNewestMailOfTask(tx, input.taskId) : undefined
  const id = newMessageId()
  const threadId = before?.threadId ?? id
  const { sender, recipientId, projectId, subject, taskId, taskSeq, priority, wakePolicy, taggedConcepts } = input
  await insertMail(
    tx,
    {
      id,
      projectId,
      senderId: sender.id,
      subject,
      taskId,
      taskSeq,
      priority,
      wakePolicy,
      taggedConcepts: JSON.stringify(taggedConcepts),
      inReplyTo: before?.id ?? null,
      threadId,
      createdAt: tx.now,
    },
    [recipientId],
  )
  return {
    event: {
      type: 'message.sent',
      actor: sender.identity,
      audience: [recipientId],
      taskId,
      data: {
        messageId: id,
        from: sender.identity,
        subject,
        priority,
        wakePolicy,
        taggedConcepts,
        isReplyTo: before?.id ?? null,
        isBroadcast: false,
        threadId,
        taskId,
      },
    },
  }
}

/** A message and its recipients, to whom it concerns: sender, recipients, operator. Errors: `message-not-found`. */
export async function readMail(
  db: Database,
  caller: Caller,
  id: string,
): Promise<{ message: MailMessage; recipients: Awaited<ReturnType<typeof listRecipients>> }> {
  const message = await findMail(db, id)
  const recipients = message ? await listRecipients(db, id) : []
  const concerned =
    message && (caller.id === message.senderId || recipients.some(({ agentId }) => agentId === caller.id))
  const operates = message && caller.kind === 'operator' && caller.projectId === message.projectId
  if (!message || !(concerned || operates))
    throw new Problem('message-not-found', { detail: `No message ${id}, or it is not yours.` })
  return { message, recipients }
}
