import type { JsonObject } from '../../lib/json.ts'
import type { Priority, WakePolicy } from '../../registry/agents/agent.ts'
import type { MessageStatus, Receipt } from './status.ts'

export const messageTypes = ['msg', 'task', 'handoff', 'ack', 'question', 'answer', 'relay'] as const
/** What a message is for. `relay` is a person's word to an agent. Source: S4-5, S4-11. */
export type MessageType = (typeof messageTypes)[number]

/** The address of everybody in a project. */
export const broadcastAddress = '*'

/** One durable piece of mail. A task's mail has no body: its text is the task's. */
export interface MailMessage {
  readonly id: string
  readonly projectId: string
  readonly senderId: string
  /** The live session that it was sent from, where one was. */
  readonly senderSession: string | null
  /** As the sender gave it; null for a task's mail. */
  readonly address: string | null
  readonly broadcast: boolean
  readonly subject: string
  readonly body: string | null
  readonly type: MessageType
  readonly signalType: string | null
  readonly payload: JsonObject | null
  /** What it is about: an issue, a commit, a path. */
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

/** What one recipient has of a message. */
export interface Recipient {
  readonly agentId: string
  readonly messageId: string
  readonly status: MessageStatus
  /** The evidence that a channel has; `receiptOf` joins it with the recipient's own word. */
  readonly receipt: Receipt
  /** The session that it was resolved to when it was sent, or handed to. */
  readonly sessionId: string | null
  readonly deliveredAt: number | null
  readonly deliveryMethod: DeliveryMethod | null
  readonly seenAt: number | null
  readonly ackedAt: number | null
  /** When it was resolved or superseded. */
  readonly endedAt: number | null
  readonly updatedAt: number
}

/** Which route brought it: a wake, a response, a session's start, or the recipient's own look. Source: S2-6. */
export type DeliveryMethod = 'push' | 'piggyback' | 'startup_drain' | 'inbox'
