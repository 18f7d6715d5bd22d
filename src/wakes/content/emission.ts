import { derivedUlid, newUlid } from '../../lib/ids.ts'
import { isoTime } from '../../lib/iso-time.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { LogEvent } from '../../log/event.ts'
import type { Subscription } from '../../registry/subscriptions/subscription.ts'
import type { McpEventName } from '../../words/mcp-events.ts'
import { messageIdOf, traceparentOf } from '../rules/match.ts'
import type { DigestBuilder } from './digest.ts'
import { mcpEventData } from './mcp-event.ts'
import { hidesSubjects, type WakeEventType, wakePayload } from './payload.ts'

/** One wake on its way: what it covers, and its body, which is the same on every channel. */
export interface Emission {
  /** The same for every retry, also after a crash; new after a resync or a recovery. */
  readonly eventId: string
  readonly eventType: WakeEventType | 'push' | McpEventName
  /** The newest event that it covers: the receiver's new watermark. */
  readonly logId: number
  readonly fromLogId: number
  readonly prevLogId: number | null
  readonly eventCount: number
  readonly emittedAt: number
  /** When the first event that it covers happened, ms since the epoch. */
  readonly firstAt: number
  readonly payload: JsonObject
  /** The mail that it is about: once it is acknowledged, no other route delivers that. */
  readonly messageIds: readonly string[]
  /** It has what presence held until this generation of its subscription. */
  readonly releasedIn?: number
  /** The trace that all of its events are part of. */
  readonly traceparent?: string
  /** Everything up to this logId was done with when it was started. Only where its receiver keeps a cursor. */
  readonly doneTo?: number
  /** Sent again on request: the receiver's watermark stays where it is. */
  readonly replayed?: true
  /** The event itself, unless it is a digest. */
  readonly event?: LogEvent
}

const noMessages: readonly string[] = []

/** The body of a webhook and the `data` of an MCP notification. Source: S1-23, D15. */
export function wakeBody(emission: Emission, agentIdentity: string, subscriptionId: string): JsonObject {
  return {
    schemaVersion: '1.0',
    eventType: emission.eventType,
    eventId: emission.eventId,
    logId: emission.logId,
    prevLogId: emission.prevLogId,
    agentIdentity,
    subscriptionId,
    payload: emission.payload,
    emittedAt: isoTime(emission.emittedAt),
  }
}

/** A `wake/test`. It repeats the receiver's watermark, so that it does not move. */
export function testEmission(
  { lastEmittedLogId }: Pick<Subscription, 'lastEmittedLogId'>,
  requestedBy: string,
  emittedAt: number,
): Emission {
  const logId = lastEmittedLogId ?? 0
  return {
    eventId: newUlid(emittedAt),
    eventType: 'wake/test',
    logId,
    fromLogId: logId,
    prevLogId: lastEmittedLogId,
    eventCount: 0,
    emittedAt,
    firstAt: emittedAt,
    messageIds: [],
    payload: { requestedBy },
  }
}

export function singleEmission(
  subscription: Subscription,
  event: LogEvent,
  prevLogId: number | null,
  emittedAt: number,
): Emission {
  const messageId = subscription.kind === 'wake' ? messageIdOf(event) : undefined
  const { eventType, payload } = contentOf(subscription, event)
  const traceparent = traceparentOf(event)
  return {
    ...(traceparent === undefined ? {} : { traceparent }),
    eventId: emissionId(subscription, event, event, 'single'),
    eventType,
    logId: event.logId,
    fromLogId: event.logId,
    prevLogId,
    eventCount: 1,
    emittedAt,
    firstAt: event.createdAt,
    payload,
    messageIds: messageId === undefined ? noMessages : [messageId],
    event,
  }
}

function contentOf(subscription: Subscription, event: LogEvent): Pick<Emission, 'eventType' | 'payload'> {
  if (subscription.kind === 'push') return { eventType: 'push', payload: {} }
  const { mcpEvent } = subscription.target
  if (mcpEvent === undefined) return wakePayload(event, hidesSubjects(subscription))
  return { eventType: mcpEvent.name, payload: mcpEventData(mcpEvent, event, hidesSubjects(subscription)) }
}

/** `reason`: `waiting` where the digest is about what waited for its reader. */
export function digestEmission(
  { subscription, identity: agentIdentity }: { readonly subscription: Subscription; readonly identity: string },
  digest: DigestBuilder,
  prevLogId: number | null,
  emittedAt: number,
  reason?: 'waiting',
): Emission {
  const { first, last, traceparent } = digest
  if (!first || !last) throw new Error('A digest needs at least one event.')
  // Events that waited may be older than the one that was sent last: the receiver's watermark does not go back.
  const logId = reason === 'waiting' ? Math.max(last.logId, prevLogId ?? 0) : last.logId
  return {
    ...(traceparent === undefined ? {} : { traceparent }),
    eventId: emissionId(subscription, first, last, 'digest'),
    eventType: 'wake/digest',
    logId,
    fromLogId: first.logId,
    prevLogId,
    eventCount: digest.count,
    emittedAt,
    firstAt: first.createdAt,
    messageIds: digest.messageIds,
    payload: digest.payload({ agentIdentity, subscriptionId: subscription.id, emittedAt, toLogId: logId, reason }),
  }
}

/** Derived from subscription, range and generation, so that nothing has to be stored before an emission is sent. */
function emissionId(subscription: Subscription, first: LogEvent, last: LogEvent, form: 'single' | 'digest'): string {
  const time = Math.max(last.createdAt, subscription.generationAt)
  return derivedUlid(time, last.logId, subscription.id, first.logId, last.logId, form, subscription.generation)
}
