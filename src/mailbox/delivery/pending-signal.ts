import { identityFrom } from '../../registry/agents/identity.ts'
import type { PendingSignal } from '../../words/mail.ts'
import type { WaitingMail } from './waiting-store.ts'

/** Returns the wire form of waiting mail that is delivered at `now`, ms since the epoch. */
export function pendingSignal(mail: WaitingMail, to: string, now: number): PendingSignal {
  const from = identityFrom(mail.senderId, mail.from)
  return {
    signal_id: mail.id,
    signal_type: mail.signalType,
    from,
    from_identity: from,
    from_session: mail.senderSession,
    to_identity: mail.broadcast ? (mail.address ?? to) : to,
    payload: mail.payload ?? {},
    in_reply_to: mail.inReplyTo,
    created_at: new Date(mail.createdAt).toISOString(),
    received_at: new Date(now).toISOString(),
    thread_id: mail.threadId,
    type: mail.type,
    subject: mail.subject,
    body: mail.body,
    ref: mail.ref,
    priority: mail.priority,
    taggedConcepts: mail.taggedConcepts,
    task_id: mail.taskId,
  }
}
