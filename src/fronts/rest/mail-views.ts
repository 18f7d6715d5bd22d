import type { JsonObject } from '../../lib/json.ts'
import type { InboxMail } from '../../mailbox/inbox.ts'
import type { MailMessage, Recipient } from '../../mailbox/message.ts'
import type { NamedRecipient, ReadMail } from '../../mailbox/read-mail.ts'
import { isDelivered, receiptOf } from '../../mailbox/status.ts'

const instant = (ms: number): string => new Date(ms).toISOString()
const instantOrNull = (ms: number | null): string | null => (ms === null ? null : instant(ms))

/** What a sender is answered: how far each recipient has it by now. Source: S2-9, D11. */
export function sentView({ message, recipients }: ReadMail): JsonObject {
  const open = recipients.filter((recipient) => !isDelivered(receiptOf(recipient)))
  return {
    messageId: message.id,
    threadId: message.threadId,
    delivered: recipients.length > 0 && open.length === 0,
    queued: open.length > 0,
    resolvedToSession: message.recipientCount === 1 ? (recipients[0]?.sessionId ?? null) : null,
    recipients: recipients.map((recipient) => ({
      agent: recipient.agent,
      status: recipient.status,
      receipt: receiptOf(recipient),
    })),
    ...truncation(message, recipients.length),
  }
}

/** A message with those of its recipients that the reader may see. */
export function mailView({ message, from, recipients }: ReadMail): JsonObject {
  return {
    ...messageFields(message, from),
    recipients: recipients.map(recipientView),
    recipientCount: message.recipientCount,
    createdAt: instant(message.createdAt),
  }
}

/** A message as its recipient has it. */
export function inboxView({ message, from, recipient }: InboxMail): JsonObject {
  return { ...messageFields(message, from), ...chainOf(recipient), createdAt: instant(message.createdAt) }
}

function messageFields(message: MailMessage, from: string): JsonObject {
  const { id, broadcast, address, senderSession, subject, body, type, signalType, payload, ref } = message
  return {
    messageId: id,
    threadId: message.threadId,
    from,
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

function recipientView(recipient: NamedRecipient): JsonObject {
  return { agent: recipient.agent, ...chainOf(recipient), updatedAt: instant(recipient.updatedAt) }
}

/** The chain with its instants, as S4-5 writes it under a message. */
function chainOf(recipient: Recipient): JsonObject {
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

function truncation({ recipientCount }: MailMessage, listed: number): JsonObject {
  return listed < recipientCount ? { recipientCount, recipientsTruncated: true } : {}
}
