import { memoryLimits } from '../gateway-limits.ts'
import type { JsonObject } from '../lib/json.ts'
import { weightOfValue } from '../lib/weight.ts'

/** The triggers of an agent's subscription. Source: S1-43; `MESSAGE_STATUS_CHANGED` is from S4-6, `WAKE_RECEIPT` is ours. */
export const agentTriggers = [
  'SENT_TO_ME',
  'TASK_STATE_CHANGED',
  'PERMISSION_GRANTED',
  'MESSAGE_STATUS_CHANGED',
  'WAKE_RECEIPT',
] as const
/** The triggers of signals from the engine: to the operator of a project, and to the agent whose subscription it is about. */
export const signalTriggers = [
  'SUBSCRIPTION_DEGRADED',
  'SUBSCRIPTION_RECOVERED',
  'WAKE_FAILED',
  'SIGNING_KEY_ROTATED',
] as const
export const triggers = [...agentTriggers, ...signalTriggers] as const
export type Trigger = (typeof triggers)[number]

/** Every event type of the log with the trigger that it fires, or null. */
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
  'wake.reported': 'WAKE_RECEIPT',
  'wake.failed': 'WAKE_FAILED',
} as const satisfies Record<string, Trigger | null>

export type EventType = keyof typeof eventTypes

/** The audience entry for the operators of the project. */
export const operatorAudience = 'operator'

/** What an event says to the engine alone, beside its data. No answer shows it. */
export interface Routing {
  /** The id of the agent that the message of a task event went to; absent: the party that did not cause the event. */
  readonly recipientId?: string
  /** The wake policies of agents in the audience, by id, where the sender chose none; absent: `immediate`. Source: D20. */
  readonly policies?: Readonly<Record<string, string>>
}

/** An event to be appended. */
export interface NewEvent {
  readonly type: EventType
  /** The identity that caused it, such as `@donna` or `@operator`. */
  readonly actor: string
  /** The id of the agent, or `operator`, whose call caused it: it is not woken by it. Absent: nobody's. Source: D17. */
  readonly actorId?: string
  /** Ids of the agents that the event concerns; each may be named once. */
  readonly audience: readonly string[]
  readonly taskId?: string
  /** Its member `routing` is a `Routing`. */
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
  readonly actorId: string | null
  readonly data: JsonObject
  /** ms since the epoch */
  readonly createdAt: number
}

/**
 * Returns the size of an event in memory and in an answer, in characters: its texts, and a constant for each value. Event data is
 * built by the gateway and only a few levels deep.
 */
export function weightOf({ data }: Pick<LogEvent, 'data'>): number {
  return weightOfValue(data) + eventWeight
}

/** Whether a page of events is so large that the next one should be short: many readers may hold one page each. */
export function isHeavy(page: readonly LogEvent[]): boolean {
  let weight = 0
  for (const event of page) weight += weightOf(event)
  return weight > memoryLimits.pageWeight.max
}

const eventWeight = 400
