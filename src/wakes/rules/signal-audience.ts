import { operatorAudience } from '../../log/event.ts'
import { type EventType, eventTypes, signalTriggers } from '../../words/events.ts'

/**
 * Returns who an event about a subscription concerns: the subscription's agent, and for a signal of the engine (such as
 * SUBSCRIPTION_DEGRADED) the operator too.
 */
export function audienceOf(type: EventType, agentId: string): string[] {
  const isSignal = (signalTriggers as readonly (string | null)[]).includes(eventTypes[type])
  return isSignal && agentId !== operatorAudience ? [agentId, operatorAudience] : [agentId]
}
