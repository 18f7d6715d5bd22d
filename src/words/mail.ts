import type { JsonObject } from '../lib/json.ts'

export const messageTypes = ['msg', 'task', 'handoff', 'ack', 'question', 'answer', 'relay'] as const
/** The purpose of a message. `relay` is a message from a person to an agent. Source: S4-5, S4-11. */
export type MessageType = (typeof messageTypes)[number]

export const messageStatuses = ['sent', 'seen', 'acked', 'resolved', 'superseded'] as const
/** The status of a message for a recipient. Only the recipient changes it. Source: S4-6. */
export type MessageStatus = (typeof messageStatuses)[number]

/** The statuses that a recipient may report. Every message begins as `sent`. */
export const reportableStatuses = ['seen', 'acked', 'resolved', 'superseded'] as const
export type ReportableStatus = (typeof reportableStatuses)[number]

export const receipts = ['accepted', 'routed', 'written', 'turn_started', 'seen', 'acked', 'resolved'] as const
/** The evidence for a delivery, weakest first. The gateway never reports a stronger one than it has. Source: D11. */
export type Receipt = (typeof receipts)[number]

/** The longest wait of one read of the inbox, in seconds: clients and proxies give up after a minute. */
export const mailWaitMax = 55

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
