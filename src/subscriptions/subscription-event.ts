import type { NewEvent } from '../log/event.ts'
import type { Caller } from '../registry/callers/caller.ts'
import { audienceOf } from '../wakes/rules/signal-audience.ts'
import type { EventType } from '../words/events.ts'

/** Returns an event about a subscription. It concerns the subscription's agent, and a signal the operator too. */
export function subscriptionEvent(
  type: EventType,
  caller: Pick<Caller, 'id' | 'identity'>,
  subscription: { readonly id: string; readonly agentId: string },
  data: object,
): NewEvent {
  return {
    type,
    actor: caller.identity,
    actorId: caller.id,
    audience: audienceOf(type, subscription.agentId),
    data: { subscriptionId: subscription.id, ...data },
  }
}
