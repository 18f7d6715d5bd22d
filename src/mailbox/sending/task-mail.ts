import { firstMailOf } from '../../lib/ids.ts'
import { nameIn } from '../../registry/callers/caller.ts'
import type { RecordTaskMail } from '../../registry/mail/task-mail.ts'
import { findNewestMessageOfTask } from '../messages/message-store.ts'
import { putMail } from '../messages/put-mail.ts'

/** Records the mail of a task's message. The mail of one task is one thread; each follow-up answers the mail before it. Source: D9, S1-24. */
export const recordMail: RecordTaskMail = async (tx, mail) => {
  const { sender, recipientId, ...rest } = mail
  const isFirst = mail.taskSeq === 1
  const before = isFirst ? undefined : await findNewestMessageOfTask(tx, mail.taskId)
  const { events } = await putMail(tx, {
    from: nameIn(mail.projectId, sender),
    senderId: sender.id,
    type: 'task',
    id: isFirst ? firstMailOf(mail.taskId) : undefined,
    inReplyTo: before?.id,
    threadId: before?.threadId,
    recipients: [{ id: recipientId, wakePolicy: mail.wakePolicy }],
    ...rest,
  })
  return { event: events[0] }
}
