import type { VisibleEvidence } from '../../../mailbox/delivery/wake-evidence.ts'
import type { DeliveryMethod, MailMessage, Recipient } from '../../../mailbox/messages/message.ts'
import { isDelivered, receiptOf } from '../../../mailbox/messages/status.ts'
import type { InboxMail } from '../../../mailbox/reading/inbox.ts'
import type { NamedRecipient, ReadMail } from '../../../mailbox/reading/read-mail.ts'
import type { MessageStatus, PendingSignal, Receipt } from '../../../words/mail.ts'
import { instant, instantOrNull } from '../instant.ts'

type Fields = Pick<
  MailMessage,
  | 'threadId'
  | 'subject'
  | 'body'
  | 'type'
  | 'signalType'
  | 'payload'
  | 'ref'
  | 'priority'
  | 'wakePolicy'
  | 'taggedConcepts'
  | 'inReplyTo'
  | 'taskId'
>

interface MessageFields extends Fields {
  readonly messageId: string
  /** `@donna` */
  readonly from: string
  /** The name of the operator who sent it. */
  readonly person?: string
  readonly fromSession: string | null
  /** The address as the sender gave it; null for the mail of a task. */
  readonly to: string | null
  readonly isBroadcast: boolean
}

/** The status of a recipient, with the instant of each step. Source: S4-5. */
export interface ProgressView {
  readonly status: MessageStatus
  readonly receipt: Receipt
  readonly sessionId: string | null
  readonly deliveredAt: string | null
  readonly deliveryMethod: DeliveryMethod | null
  readonly seenAt: string | null
  readonly ackedAt: string | null
  readonly resolvedAt: string | null
  /** Of a superseded message only. */
  readonly supersededAt?: string | null
}

export interface RecipientView extends ProgressView {
  readonly agent: string
  /** The strongest step of the newest wake that a stream brought it: to the sender without what is the reader's own. */
  readonly wake?: VisibleEvidence
  /** Why unread mail waits: the harness of its recipient is at a limit. `until` null: until a person acts. Source: D50. */
  readonly held?: { readonly reason: string; readonly until: string | null }
  readonly updatedAt: string
}

/** A message with those of its recipients that the reader may see. Instants are ISO 8601. */
export interface MessageView extends MessageFields {
  readonly recipients: readonly RecipientView[]
  /** Of all recipients, also of those that are not listed. */
  readonly recipientCount: number
  readonly createdAt: string
}

/** A message as its recipient has it. */
export interface InboxMessageView extends MessageFields, ProgressView {
  readonly createdAt: string
}

/** A page of an inbox. With `waitSeconds` it has no messages, and what came meanwhile. */
export interface InboxView {
  readonly messages: readonly InboxMessageView[]
  readonly nextPageToken: string
  readonly pendingSignals?: readonly PendingSignal[]
}

/** The answer to a sender: how far each recipient has the message by now. Source: S2-9, D11. */
export interface SentView {
  readonly messageId: string
  readonly threadId: string
  readonly delivered: boolean
  readonly queued: boolean
  readonly resolvedToSession: string | null
  readonly recipients: readonly { readonly agent: string; readonly status: MessageStatus; readonly receipt: Receipt }[]
  /** Present if `recipients` does not list all of them. */
  readonly recipientCount?: number
  readonly recipientsTruncated?: true
}

export function sentView({ message, recipients }: ReadMail): SentView {
  const open = recipients.filter((recipient) => !isDelivered(receiptOf(recipient)))
  const { recipientCount } = message
  return {
    messageId: message.id,
    threadId: message.threadId,
    delivered: recipients.length > 0 && open.length === 0,
    queued: open.length > 0,
    resolvedToSession: recipientCount === 1 ? (recipients[0]?.sessionId ?? null) : null,
    recipients: recipients.map((recipient) => ({
      agent: recipient.agent,
      status: recipient.status,
      receipt: receiptOf(recipient),
    })),
    ...(recipients.length < recipientCount ? { recipientCount, recipientsTruncated: true } : {}),
  }
}

export function messageView({ message, from, recipients }: ReadMail): MessageView {
  return {
    messageId: message.id,
    ...messageFields(message, from),
    recipients: recipients.map(recipientView),
    recipientCount: message.recipientCount,
    createdAt: instant(message.createdAt),
  }
}

export function inboxMessageView({ message, from, recipient }: InboxMail): InboxMessageView {
  return {
    messageId: message.id,
    ...messageFields(message, from),
    ...progressView(recipient),
    createdAt: instant(message.createdAt),
  }
}

function messageFields(message: MailMessage, from: string): Omit<MessageFields, 'messageId'> {
  const { broadcast, address, person, senderSession, subject, body, type, signalType, payload, ref } = message
  return {
    threadId: message.threadId,
    from,
    ...(person === null ? {} : { person }),
    fromSession: senderSession,
    to: address,
    isBroadcast: broadcast,
    subject,
    body,
    type,
    signalType,
    payload,
    ref,
    priority: message.priority,
    wakePolicy: message.wakePolicy,
    taggedConcepts: message.taggedConcepts,
    inReplyTo: message.inReplyTo,
    taskId: message.taskId,
  }
}

function recipientView(recipient: NamedRecipient): RecipientView {
  const { agent, wake, held, updatedAt } = recipient
  return {
    agent,
    ...progressView(recipient),
    ...(wake ? { wake } : {}),
    ...(held ? { held: { reason: held.reason, until: instantOrNull(held.until) } } : {}),
    updatedAt: instant(updatedAt),
  }
}

function progressView(recipient: Recipient): ProgressView {
  const { status, sessionId, deliveredAt, deliveryMethod, seenAt, ackedAt, endedAt } = recipient
  return {
    status,
    receipt: receiptOf(recipient),
    sessionId,
    deliveredAt: instantOrNull(deliveredAt),
    deliveryMethod,
    seenAt: instantOrNull(seenAt),
    ackedAt: instantOrNull(ackedAt),
    resolvedAt: instantOrNull(status === 'resolved' ? endedAt : null),
    ...(status === 'superseded' ? { supersededAt: instantOrNull(endedAt) } : {}),
  }
}
