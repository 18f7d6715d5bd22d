import type { JsonObject } from '../../lib/json.ts'
import { flag, int, json, type NounOf, nullable, text, word } from '../../storage/columns.ts'
import type { MessageStatus, MessageType, Receipt } from '../../words/mail.ts'
import type { Priority, WakePolicy } from '../../words/policies.ts'

/** The address of all agents of a project. */
export const broadcastAddress = '*'

export const messageFields = {
  id: text,
  projectId: text,
  senderId: text,
  /** The name of the operator who sent it; null: an agent did, or one without a name. */
  person: nullable(text),
  /** The sender's live session at that time. */
  senderSession: nullable(text),
  /** As the sender wrote it; null for the mail of a task. */
  address: nullable(text),
  broadcast: flag,
  subject: text,
  body: nullable(text),
  type: word<MessageType>(),
  signalType: nullable(text),
  payload: nullable(json<JsonObject>()),
  /** The subject matter: an issue, a commit, a path. */
  ref: nullable(text),
  priority: word<Priority>(),
  wakePolicy: word<WakePolicy>(),
  taggedConcepts: json<readonly string[]>(),
  inReplyTo: nullable(text),
  threadId: text,
  taskId: nullable(text),
  taskSeq: nullable(int),
  recipientCount: int,
  createdAt: int,
}
/** One durable piece of mail. A task's mail has no body: its text is the task's. */
export type MailMessage = NounOf<typeof messageFields>

export const recipientFields = {
  agentId: text,
  messageId: text,
  status: word<MessageStatus>(),
  /** The evidence that a channel has. `receiptOf` combines it with the status that the recipient reported. */
  receipt: word<Receipt>(),
  /** The recipient's session when it was sent, or the one that got it. */
  sessionId: nullable(text),
  deliveredAt: nullable(int),
  deliveryMethod: nullable(word<DeliveryMethod>()),
  seenAt: nullable(int),
  ackedAt: nullable(int),
  /** When it was resolved or superseded. */
  endedAt: nullable(int),
  updatedAt: int,
}
/** The state of a message for one recipient. */
export type Recipient = NounOf<typeof recipientFields>

/** The route that delivered a message: a wake (`push`), an answer, the start of a session, or the recipient's own read. Source: S2-6. */
export type DeliveryMethod = 'push' | 'piggyback' | 'startup_drain' | 'inbox'
