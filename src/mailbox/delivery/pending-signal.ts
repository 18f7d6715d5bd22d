import type { JsonObject } from '../../lib/json.ts'
import { identityFrom } from '../../registry/agents/identity.ts'
import type { WaitingMail } from './waiting-store.ts'

/** Mail in an answer: the fields of S2-8 under their names there, and further fields of mail. */
export interface PendingSignal {
  readonly signal_id: string
  readonly signal_type: string | null
  readonly from: string
  readonly from_identity: string
  readonly from_session: string | null
  readonly to_identity: string
  readonly payload: JsonObject
  readonly in_reply_to: string | null
  readonly created_at: string
  readonly received_at: string
  readonly thread_id: string
  readonly type: string
  readonly subject: string
  readonly body: string | null
  readonly ref: string | null
  readonly priority: string
  /** In camel case, as everywhere else: S2-8 has no such field. Source: S1-47. */
  readonly taggedConcepts: readonly string[]
  readonly task_id: string | null
}

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
