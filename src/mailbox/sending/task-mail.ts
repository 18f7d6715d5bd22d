import type { NewEvent } from '../../log/event.ts'
import type { Priority, WakePolicy } from '../../registry/agents/agent.ts'
import { type Caller, nameIn } from '../../registry/callers/caller.ts'
import type { Transaction } from '../../storage/database.ts'
import { findNewestMessageOfTask } from '../messages/message-store.ts'
import { putMail } from '../messages/put-mail.ts'

/** Mail that comes with a task. */
export interface TaskMailInput {
  readonly sender: Caller
  readonly recipientId: string
  readonly projectId: string
  readonly subject: string
  readonly taskId: string
  readonly taskSeq: number
  readonly priority: Priority
  readonly wakePolicy: WakePolicy
  readonly taggedConcepts: readonly string[]
}

/**
 * Puts a task's message into its recipient's mailbox, within the task's transaction, and answers the event to append
 * for it. A task's mail is one thread; a follow-up answers the mail before it. Source: D9, S1-24.
 */
export async function recordMail(tx: Transaction, input: TaskMailInput): Promise<{ event: NewEvent }> {
  const { sender, recipientId, taskId, taskSeq, ...rest } = input
  const before = taskSeq > 1 ? await findNewestMessageOfTask(tx, taskId) : undefined
  const { events } = await putMail(tx, {
    from: nameIn(rest.projectId, sender),
    senderId: sender.id,
    senderSession: null,
    address: null,
    broadcast: false,
    body: null,
    type: 'task',
    signalType: null,
    payload: null,
    ref: null,
    taskId,
    taskSeq,
    inReplyTo: before?.id ?? null,
    threadId: before?.threadId ?? null,
    recipients: [{ id: recipientId, wakePolicy: rest.wakePolicy }],
    ...rest,
  })
  return { event: events[0] }
}
