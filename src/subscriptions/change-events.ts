import type { NewEvent } from '../log/event.ts'
import type { Caller } from '../registry/callers/caller.ts'
import type { WakeSubscription } from '../registry/subscriptions/subscription.ts'
import { subscriptionEvent } from './subscription-event.ts'

/** Returns the events of a change: the change itself, a recovery, a new key. `agent` is the owner's identity. */
export function changeEvents(
  caller: Caller,
  agent: string,
  before: WakeSubscription,
  after: WakeSubscription,
  isKeyRotated: boolean,
): NewEvent[] {
  const { status } = after
  const events = [subscriptionEvent('subscription.updated', caller, after, { status })]
  if (before.status === 'degraded' && status === 'active') {
    events.push(subscriptionEvent('subscription.recovered', caller, after, { agent, reason: before.reason }))
  }
  if (isKeyRotated) {
    const previous = after.formerKeys.find(({ key }) => key === before.signingKey)
    const previousKeyUntil = previous ? new Date(previous.until).toISOString() : null
    events.push(subscriptionEvent('subscription.key_rotated', caller, after, { agent, previousKeyUntil }))
  }
  return events
}
