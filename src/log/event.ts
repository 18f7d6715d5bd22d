import type { JsonObject } from '../lib/json.ts'
import { memoryLimits } from '../limits.ts'

/** What an agent's subscription can be triggered by. Source: S1-43; the last is ours: S4-6. */
export const agentTriggers = [
  'SENT_TO_ME',
  'TASK_STATE_CHANGED',
  'PERMISSION_GRANTED',
  'MESSAGE_STATUS_CHANGED',
] as const
/** What the engine itself has to say: for the operator of a project, and for the agent whose subscription it is about. */
export const signalTriggers = [
  'SUBSCRIPTION_DEGRADED',
  'SUBSCRIPTION_RECOVERED',
  'WAKE_FAILED',
  'SIGNING_KEY_ROTATED',
] as const
export const triggers = [...agentTriggers, ...signalTriggers] as const
export type Trigger = (typeof triggers)[number]

/** Every kind of row that the log can hold, with the trigger it fires, if any. */
export const eventTypes = {
  'message.sent': 'SENT_TO_ME',
  'message.seen': 'MESSAGE_STATUS_CHANGED',
  'message.acked': 'MESSAGE_STATUS_CHANGED',
  'message.resolved': 'MESSAGE_STATUS_CHANGED',
  'message.superseded': 'MESSAGE_STATUS_CHANGED',
  'mail.rate_limited': null,
  'mail.storm_tripped': null,
  'task.state_changed': 'TASK_STATE_CHANGED',
  'task.artifact_added': null,
  'permission.granted': 'PERMISSION_GRANTED',
  'permission.revoked': null,
  'project.created': null,
  'project.updated': null,
  'agent.created': null,
  'agent.updated': null,
  'agent.deleted': null,
  'claim.taken': null,
  'claim.taken_over': null,
  'claim.released': null,
  'claim.handed_off': null,
  'key.created': null,
  'key.revoked': null,
  'peer.joined': null,
  'peer.left': null,
  'master.preempted': null,
  'push_config.created': null,
  'push_config.deleted': null,
  'subscription.created': null,
  'subscription.updated': null,
  'subscription.removed': null,
  'subscription.degraded': 'SUBSCRIPTION_DEGRADED',
  'subscription.recovered': 'SUBSCRIPTION_RECOVERED',
  'subscription.key_rotated': 'SIGNING_KEY_ROTATED',
  'subscription.resynced': null,
  'subscription.replayed': null,
  'wake.failed': 'WAKE_FAILED',
} as const satisfies Record<string, Trigger | null>

export type EventType = keyof typeof eventTypes

/** The operator's place in an audience: the project's own, whoever operates it. */
export const operatorAudience = 'operator'

/** An event on its way into the log. */
export interface NewEvent {
  readonly type: EventType
  /** Who did it: an identity such as `@donna` or `@operator`. */
  readonly actor: string
  /** Ids of the agents that the event concerns; each may be named once. */
  readonly audience: readonly string[]
  readonly taskId?: string
  readonly data: JsonObject
}

/** One row of the log. `logId` is gap-free within the project, in commit order. */
export interface LogEvent {
  readonly projectId: string
  readonly logId: number
  readonly type: EventType
  readonly trigger: Trigger | null
  readonly taskId: string | null
  readonly actor: string
  readonly data: JsonObject
  /** ms since the epoch */
  readonly createdAt: number
}

/**
 * What an event weighs in memory and in an answer, in characters: its texts, and some for each value. The gateway builds what an
 * event says, a few levels deep at the most.
 */
export function weightOf({ data }: Pick<LogEvent, 'data'>): number {
  return weightOfValue(data) + eventWeight
}

/** Whether a page of events is so heavy that the next one is to be short: many readers may hold one each. */
export function isHeavy(page: readonly LogEvent[]): boolean {
  let weight = 0
  for (const event of page) weight += weightOf(event)
  return weight > memoryLimits.pageWeight.max
}

const eventWeight = 400
const valueWeight = 16

function weightOfValue(value: unknown): number {
  if (typeof value === 'string') return value.length + valueWeight
  if (typeof value !== 'object' || value === null) return valueWeight
  let weight = valueWeight
  if (Array.isArray(value)) for (const item of value) weight += weightOfValue(item)
  else for (const key in value) weight += key.length + weightOfValue((value as JsonObject)[key])
  return weight
}
