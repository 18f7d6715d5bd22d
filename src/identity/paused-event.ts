import type { JsonObject } from '../lib/json.ts'
import type { NewEvent } from '../log/event.ts'

/** The event that the gateway has paused a subscription. */
export function pausedEvent(subscriptionId: string, agentId: string, actor: string, reason: string): NewEvent {
  const data: JsonObject = { subscriptionId, status: 'paused', reason }
  return { type: 'subscription.updated', actor, audience: [agentId], data }
}

/** The event that the gateway has ended a subscription of a client of MCP. */
export function endedEvent(subscriptionId: string, agentId: string, actor: string, reason: string): NewEvent {
  return { type: 'subscription.removed', actor, audience: [agentId], data: { subscriptionId, reason } }
}
