import { firstMailOf } from '../../lib/ids.ts'
import { nameIn } from '../../registry/callers/caller.ts'
import type { RecordTaskMail } from '../../registry/mail/task-mail.ts'
import { findNewestMessageOfTask } from '../messages/message-store.ts'
import { putMail } from '../messages/put-mail.ts'

/** Records the mail of a task's message. The mail of one task is one thread; each follow-up answers the mail before it. Source: D9, S1-24. */
export const recordMail: RecordTaskMail = async (tx, mail) => {
  const { sender, projectId } = mail
  const isFirst = mail.taskSeq === 1
  const before = isFirst ? undefined : await findNewestMessageOfTask(tx, mail.taskId)
  const { events } = await putMail(tx, {
    projectId,
    from: nameIn(projectId, sender),
    senderId: sender.id,
    person: sender.name ?? null,
    subject: mail.subject,
    type: 'task',
    id: isFirst ? firstMailOf(mail.taskId) : undefined,
    inReplyTo: before?.id,
    threadId: before?.threadId,
    taskId: mail.taskId,
    taskSeq: mail.taskSeq,
    priority: mail.priority,
    wakePolicy: mail.wakePolicy,
    taggedConcepts: mail.taggedConcepts,
    recipients: [{ id: mail.recipientId, wakePolicy: mail.wakePolicy }],
  })
  return { event: events[0] }
}
