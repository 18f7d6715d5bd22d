import { isoTime } from '../lib/iso-time.ts'
import type { JsonObject } from '../lib/json.ts'
import { type NewEvent, operatorAudience } from '../log/event.ts'
import { gatewayIdentity } from '../registry/agents/identity.ts'
import type { Gate } from '../registry/recovery/gate.ts'
import type { RecoveryMode } from '../registry/recovery/recovery.ts'
import type { Facts } from '../turns/facts.ts'
import type { EventType } from '../words/events.ts'

interface Subject {
  readonly id: string
  /** `@donna` */
  readonly handle: string
}

/** A change of what recovery does for an agent. Instants in ms since the epoch. */
interface Change {
  readonly change:
    | 'ordered'
    | 'cleared'
    | 'abandoned'
    | 'failed'
    | 'refused'
    | 'withdrawn'
    | 'deferred'
    | 'parked'
    | 'unparked'
  readonly mode?: RecoveryMode
  readonly epoch?: number
  readonly reason: string
  readonly until?: number | null
  readonly since: number
}

/** An event about what recovery does for an agent: to that agent and the operator. */
export function recoveryEvent(
  type: Extract<EventType, `recovery.${string}`>,
  { id, handle }: Subject,
  { since, until, ...change }: Change,
): NewEvent {
  const ends = until === undefined ? {} : { until: until === null ? null : isoTime(until) }
  const data = { agent: handle, ...change, ...ends, since: isoTime(since) }
  return { type, actor: gatewayIdentity, audience: [id, operatorAudience], data }
}

/**
 * A nudge is a wake without mail: why, and the one next action, by the one route that was chosen. A heartbeat records the same in the log, and
 * goes by no route: it begins no turn. Source: S1-30.
 */
export function pulseEvent({ id, handle }: Subject, facts: Facts, mode: 'nudge' | 'heartbeat'): NewEvent {
  const { unread, openTasks, oldestAt } = facts.reason!
  const reason = [unread > 0 ? ['unread_mail'] : [], openTasks > 0 ? ['open_task'] : []].flat().join('_and_')
  const contextTokens = facts.session?.contextTokens ?? undefined
  const data: JsonObject = {
    agent: handle,
    mode,
    reason,
    unread,
    openTasks,
    oldestAt: isoTime(oldestAt),
    next: unread > 0 ? 'Read your inbox.' : 'Go on with your open tasks, or hand them back.',
    ...(contextTokens === undefined ? {} : { contextTokens }),
    ...(mode === 'nudge' ? { routing: { subscriptionId: facts.route!.subscriptionId } } : {}),
  }
  return { type: 'heartbeat.pulse', actor: gatewayIdentity, audience: [id], data }
}

/** A harness waits for a person for long: to the operator, the agent and those who wait for it. */
export function deferredEvent(subject: Subject, { reason, session }: Facts): NewEvent {
  const since = session?.presenceAt ?? reason!.oldestAt
  const event = recoveryEvent('recovery.deferred', subject, {
    change: 'deferred',
    reason: 'its harness waits for a person',
    since,
  })
  return { ...event, audience: [...new Set([...event.audience, ...reason!.senderIds])] }
}

/** A change of a gate: to the operator, and to the agent that it is about. `agent`: absent for the gate of a project. */
export function gateEvent(
  agent: string | undefined,
  agentId: string,
  { nudges, restarts, reason, changedBy, since }: Pick<Gate, 'nudges' | 'restarts' | 'reason' | 'changedBy' | 'since'>,
): NewEvent {
  const data = { ...(agent === undefined ? {} : { agent }), nudges, restarts, reason, changedBy, since: isoTime(since) }
  const audience = agentId === '' ? [operatorAudience] : [agentId, operatorAudience]
  return { type: 'gate.changed', actor: changedBy, audience, data }
}
