import type { JsonObject } from '../../lib/json.ts'
import type { MessageStatus, MessageType, Receipt } from '../../words/mail.ts'
import type { Priority, WakePolicy } from '../../words/policies.ts'

/** The address of all agents of a project. */
export const broadcastAddress = '*'

/** One durable piece of mail. A task's mail has no body: its text is the task's. */
export interface MailMessage {
  readonly id: string
  readonly projectId: string
  readonly senderId: string
  /** The sender's live session at that time. */
  readonly senderSession: string | null
  /** As the sender wrote it; null for the mail of a task. */
  readonly address: string | null
  readonly broadcast: boolean
  readonly subject: string
  readonly body: string | null
  readonly type: MessageType
  readonly signalType: string | null
  readonly payload: JsonObject | null
  /** The subject matter: an issue, a commit, a path. */
  readonly ref: string | null
  readonly taskId: string | null
  readonly taskSeq: number | null
  readonly priority: Priority
  readonly wakePolicy: WakePolicy
  readonly taggedConcepts: readonly string[]
  readonly inReplyTo: string | null
  readonly threadId: string
  readonly recipientCount: number
  readonly createdAt: number
}

/** The state of a message for one recipient. */
export interface Recipient {
  readonly agentId: string
  readonly messageId: string
  readonly status: MessageStatus
  /** The evidence that a channel has. `receiptOf` combines it with the status that the recipient reported. */
  readonly receipt: Receipt
  /** The recipient's session when it was sent, or the one that got it. */
  readonly sessionId: string | null
  readonly deliveredAt: number | null
  readonly deliveryMethod: DeliveryMethod | null
  readonly seenAt: number | null
  readonly ackedAt: number | null
  /** When it was resolved or superseded. */
  readonly endedAt: number | null
  readonly updatedAt: number
}

/** The route that delivered a message: a wake (`push`), an answer, the start of a session, or the recipient's own read. Source: S2-6. */
export type DeliveryMethod = 'push' | 'piggyback' | 'startup_drain' | 'inbox'
