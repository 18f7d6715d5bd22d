import type { JsonObject } from '../lib/json.ts'
import { weightOfValue } from '../lib/weight.ts'
import { KiB } from '../limits.ts'
import type { NounOf } from '../storage/columns.ts'
import type { EventType, Trigger } from '../words/events.ts'
import type { eventFields } from './event-row.ts'

/** The characters of a page of events after which the next pages are shorter. */
const pageWeightMax = 512 * KiB

/** The audience entry for the operators of the project. */
export const operatorAudience = 'operator'

/** The part of an event that is for the engine alone, beside its data. No answer shows it. */
export interface Routing {
  /** The id of the agent that the message of a task event went to; absent: the party that did not cause the event. */
  readonly recipientId?: string
  /** The wake policies of agents in the audience, by id, where the sender chose none; absent: `immediate`. Source: D20. */
  readonly policies?: Readonly<Record<string, string>>
  /** The ids of agents that are polling for it as an MCP task: the answer to that begins their turn. */
  readonly followed?: readonly string[]
  /** The only subscription that it wakes; absent: every one that listens to it. */
  readonly subscriptionId?: string
  /** The trace that its call was part of, in the form of W3C Trace Context: its wake continues it. */
  readonly traceparent?: string
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

/** An event that the log no longer has, made again from the store. `createdAt`: ms since the epoch. */
export interface PastEvent extends NewEvent {
  readonly createdAt: number
}

/** One row of the log. `logId` is gap-free within the project, in commit order. */
export interface LogEvent extends NounOf<typeof eventFields> {
  readonly trigger: Trigger | null
}

/**
 * Returns the size of an event in memory and in an answer, in characters: its texts, and a constant for each value. Event data is
 * built by the gateway and only a few levels deep.
 */
export function weightOf({ data }: Pick<LogEvent, 'data'>): number {
  return weightOfValue(data) + eventWeight
}

/** True when a page of events is so large that the next one should be short: many readers may hold one page each. */
export function isHeavy(page: readonly LogEvent[]): boolean {
  let weight = 0
  for (const event of page) weight += weightOf(event)
  return weight > pageWeightMax
}

const eventWeight = 400
