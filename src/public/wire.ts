/** The shapes that the REST API sends and takes, as far as the client names them. Instants are ISO 8601. It depends on nothing. */

export type TaskState =
  | 'submitted'
  | 'working'
  | 'input-required'
  | 'auth-required'
  | 'completed'
  | 'failed'
  | 'canceled'
  | 'rejected'

export type Priority = 'high' | 'normal' | 'low'
export type WakePolicy = 'silent' | 'next_turn' | 'immediate'

/** A page of a list. `''`: it was the last one. */
export interface Page {
  readonly nextPageToken: string
}

/** A message of A2A. */
export interface A2aMessage {
  readonly messageId: string
  readonly role: string
  readonly parts: readonly { readonly [field: string]: unknown }[]
}

/** A task without its artifacts. */
export interface Task {
  readonly id: string
  readonly contextId: string
  /** The version of the task that a move names: it fails if the task has moved on. */
  readonly version: number
  readonly state: TaskState
  /** `@donna` */
  readonly originator: string
  readonly assignee: string
  readonly priority: Priority
  readonly taggedConcepts: readonly string[]
  readonly status: { readonly state: TaskState; readonly timestamp: string; readonly message?: A2aMessage }
  /** The newest messages. */
  readonly history: readonly A2aMessage[]
  /** Of all messages, also of those that `history` leaves out. */
  readonly messageCount: number
  /** Why the gateway itself moved the task: `expired`, `agent-removed`. */
  readonly reason?: string
  readonly expiresAt?: string
  readonly createdAt: string
  readonly lastModifiedAt: string
}

export interface Artifact {
  readonly artifactId: string
  readonly parts: readonly { readonly [field: string]: unknown }[]
}

export interface TaskWithArtifacts extends Task {
  readonly artifacts: readonly Artifact[]
}

export interface TaskList extends Page {
  readonly tasks: readonly Task[]
  readonly totalSize: number
}

export interface TaskQuery {
  readonly role?: 'assignee' | 'originator'
  readonly state?: TaskState
  readonly contextId?: string
  readonly pageSize?: number
  readonly pageToken?: string
}

export interface Move {
  readonly to: TaskState
  readonly expectedVersion: number
  /** The text of the status message. */
  readonly message?: string
}

/** Mail to an agent, or to `*`. One of `subject`, `body` and `payload` at least. */
export interface NewMail {
  readonly to?: string
  readonly subject?: string
  readonly body?: string
  readonly payload?: { readonly [field: string]: unknown }
  readonly ref?: string
  readonly priority?: Priority
  readonly wakePolicy?: WakePolicy
  readonly inReplyTo?: string
}

/** How far each recipient has a message by now. */
export interface SentMail {
  readonly messageId: string
  readonly threadId: string
  readonly delivered: boolean
  readonly queued: boolean
  readonly recipients: readonly { readonly agent: string; readonly status: string; readonly receipt: string }[]
}

/** A message as its recipient has it. */
export interface Mail {
  readonly messageId: string
  readonly threadId: string
  /** `@donna` */
  readonly from: string
  readonly subject: string
  /** null for the mail of a task: its text is the task's. */
  readonly body: string | null
  readonly payload: { readonly [field: string]: unknown } | null
  readonly type: string
  readonly ref: string | null
  readonly taskId: string | null
  readonly inReplyTo: string | null
  readonly priority: Priority
  readonly status: string
  readonly createdAt: string
}

export interface Inbox extends Page {
  readonly messages: readonly Mail[]
}

export interface InboxQuery {
  readonly unread?: boolean
  readonly thread?: string
  readonly limit?: number
  readonly pageToken?: string
}

export type Trigger =
  | 'SENT_TO_ME'
  | 'TASK_STATE_CHANGED'
  | 'PERMISSION_GRANTED'
  | 'MESSAGE_STATUS_CHANGED'
  | 'WAKE_RECEIPT'

export interface NewSubscription {
  readonly trigger: Trigger
  /** Where the wakes go. */
  readonly url: string
  /** Seconds that wakes gather for, 0 to 300. */
  readonly coalesceWindow?: number
  readonly coalesceMode?: 'window' | 'leading'
  /** True: the agent is woken by its own acts too. */
  readonly includeOwn?: boolean
  /** `@donna`: for whom, where the key is not that agent's. */
  readonly agentIdentity?: string
}

/** The signing key is shown only here. */
export interface MadeSubscription {
  readonly subscriptionId: string
  readonly signingKey?: string
}

export interface Subscription {
  readonly subscriptionId: string
  readonly agentIdentity: string
  readonly trigger: string
  readonly harnessTarget: string
  readonly status: string
  readonly reason: string | null
  readonly cursorLogId: number
  readonly lastEmittedLogId: number | null
  readonly createdAt: string
  readonly updatedAt: string
}

export interface SubscriptionList extends Page {
  readonly subscriptions: readonly Subscription[]
}
