import type { WakeEventType } from '../../src/wakes/content/payload.ts'
import type { MessageStatus } from '../../src/words/mail.ts'
import type { Priority } from '../../src/words/policies.ts'
import type { ReceiptStep } from '../../src/words/receipts.ts'

// The bodies of wakes as types, for the document only: src/wakes/content/ builds them from the data of events. The fixtures of the
// wakes are checked against them, with every field.

/** The body of each wake. Source: S1-23. */
export type Wakes = { readonly [Type in WakeEventType]: Wake<Type, Payloads[Type]> }

interface Wake<Type extends WakeEventType, Payload> {
  readonly schemaVersion: '1.0'
  readonly eventType: Type
  /** The same for every retry, also as `webhook-id`: act once for each. */
  readonly eventId: string
  /** The newest event that the wake covers: the receiver's new watermark. */
  readonly logId: number
  /** The `logId` of the wake before; null: there was none. If it is not the last one that arrived, ask for a resync. */
  readonly prevLogId: number | null
  /** `@donna`: the agent that is woken. */
  readonly agentIdentity: string
  readonly subscriptionId: string
  readonly payload: Payload
  /** ISO 8601 */
  readonly emittedAt: string
}

interface Payloads {
  readonly 'wake/sent_to_me': SentToMePayload
  readonly 'wake/task_state_changed': TaskStateChangedPayload
  readonly 'wake/permission_granted': PermissionGrantedPayload
  readonly 'wake/message_status_changed': MessageStatusChangedPayload
  readonly 'wake/receipt': ReceiptPayload
  readonly 'wake/digest': DigestPayload
  readonly 'wake/subscription_degraded': SubscriptionPayload
  readonly 'wake/subscription_recovered': SubscriptionPayload
  readonly 'wake/event_failed': EventFailedPayload
  readonly 'wake/signing_key_rotated': SigningKeyRotatedPayload
  readonly 'wake/heartbeat_pulse': HeartbeatPulsePayload
  readonly 'wake/recovery_changed': RecoveryChangedPayload
  readonly 'wake/gate_changed': GateChangedPayload
  readonly 'wake/need_changed': NeedChangedPayload
  readonly 'wake/test': TestPayload
}

/** Mail for the agent: a pointer, never its body. */
interface SentToMePayload {
  readonly messageId: string
  /** Of the mail of a task only. */
  readonly taskId?: string
  readonly from: string
  /** `''` where the subscription leaves subjects out. */
  readonly subject: string
  readonly priority: Priority
  readonly taggedConcepts: readonly string[]
  /** `GET /v1/messages/{id}` has all of them. */
  readonly taggedConceptsTruncated?: true
  /** The message that it answers. */
  readonly isReplyTo: string | null
  readonly isBroadcast: boolean
}

/** States have the names of A2A: `InputRequired`. */
interface TaskStateChangedPayload {
  readonly taskId: string
  /** null: the task is new. */
  readonly previousState: string | null
  readonly newState: string
  readonly originator: string
  readonly assignee: string
  readonly lastModifiedAt: string
}

interface PermissionGrantedPayload {
  readonly permissionId?: string
  readonly scope: string
  readonly grantedBy: string
  readonly grantedAt: string
}

/** A recipient of the agent's mail has changed its status. */
interface MessageStatusChangedPayload {
  readonly messageId: string
  readonly threadId: string
  readonly subject: string
  readonly recipient: string
  readonly previousStatus: MessageStatus
  readonly status: MessageStatus
  readonly changedAt: string
}

/** The outcome of a wake that the agent's mail caused. */
interface ReceiptPayload {
  readonly messageId: string
  readonly taskId?: string
  readonly threadId: string
  readonly recipient: string
  readonly step: ReceiptStep
  readonly source: string | null
  readonly at: string
  readonly detail?: string
  readonly messageCount?: number
}

/** Several events in one wake. Source: S1-40. */
interface DigestPayload {
  /** The digest as text, for a model. */
  readonly summary: string
  readonly eventCount: number
  /** It is about what waited for its reader. */
  readonly reason?: 'waiting'
  readonly newMessages: number
  readonly taskTransitions: number
  readonly permissionsGranted: number
  readonly latestMessage: SentToMePayload | null
  readonly latestTaskTransition: TaskStateChangedPayload | null
  readonly latestPermission: PermissionGrantedPayload | null
  readonly messageStatuses?: number
  readonly latestMessageStatus?: MessageStatusChangedPayload
  readonly wakeReceipts?: number
  readonly latestWakeReceipt?: ReceiptPayload
  readonly heartbeats?: number
  readonly latestHeartbeat?: HeartbeatPulsePayload
  readonly signals?: number
  readonly latestSignal?: LatestSignal
  readonly fromLogId: number
  readonly toLogId: number
  readonly windowStart: string
  readonly refs: readonly DigestRef[]
  /** There are more events than `refs` lists. */
  readonly refsTruncated?: true
}

interface DigestRef {
  readonly logId: number
  readonly eventType: WakeEventType
  readonly messageId?: string
  readonly taskId?: string
}

/** The payload of a signal, and the type of its event. */
interface LatestSignal {
  readonly signal: string
  readonly [field: string]: unknown
}

interface SubscriptionPayload {
  readonly subscriptionId: string
  readonly agent: string
  readonly reason: string
}

/** An event did not arrive and is not sent again. */
interface EventFailedPayload {
  readonly subscriptionId: string
  readonly agent: string
  readonly eventId: string
  readonly logId: number
  readonly reason: string
}

interface SigningKeyRotatedPayload {
  readonly subscriptionId: string
  readonly agent: string
  readonly previousKeyUntil: string
}

/** A reason to act that nothing else brings. Source: S1-30. */
interface HeartbeatPulsePayload {
  readonly agent: string
  readonly mode: string
  readonly reason: string
  readonly unread: number
  readonly openTasks: number
  readonly oldestAt: string | null
  /** The first thing to do, for a model. */
  readonly next: string
  /** The size of the conversation, where the harness tells. */
  readonly contextTokens?: number
}

/** A change of what recovery does for an agent. */
interface RecoveryChangedPayload {
  readonly agent: string
  readonly change: string
  readonly mode?: string
  readonly epoch?: number
  readonly reason: string
  readonly until?: string | null
  readonly since: string
}

interface GateChangedPayload {
  /** Absent: the gate of the project. */
  readonly agent?: string
  readonly nudges: string
  readonly restarts: string
  readonly reason: string | null
  readonly changedBy: string
  readonly since: string
}

/** Something waits for a person, or does so no more. */
interface NeedChangedPayload {
  readonly change: 'raised' | 'cleared'
  /** The id of the need: the same as long as it waits. */
  readonly need: string
  readonly kind: string
  /** null: it is the project's. */
  readonly agent: string | null
  readonly taskId?: string
  readonly messageId?: string
  readonly sessionId?: string
  readonly subscriptionId?: string
  readonly since?: string
  readonly subject?: string
}

interface TestPayload {
  readonly requestedBy: string
}
