import type { LogEvent } from '../../log/event.ts'
import type { WakeSubscription } from '../../registry/subscriptions/subscription.ts'
import { presenceOf } from '../../words/presence.ts'
import { isDeliverable } from '../../words/targets.ts'
import { concerns, isFollowed, isOwnAct, isWokenBySibling, wakePolicyOf } from './match.ts'
import { type Decision, decide, isWake, ownAct, routeOf } from './policy.ts'

/** Why the target of a subscription was not sent an event that it listens to. Source: D27. */
export type NonWake =
  | Decision
  /** It is sent when the subscription is sent for again. */
  | { readonly action: 'wait'; readonly reason: 'paused' | 'degraded' | 'no_channel' | 'usage_limit' }
  /** The agent knows of it already. */
  | { readonly action: 'skip'; readonly reason: 'told_elsewhere' | 'already_in_hand' }

/** Facts about an event that the event itself does not have. */
interface Circumstances {
  /** The other subscriptions of the agent. */
  readonly siblings: readonly WakeSubscription[]
  /** True when the message of the event reached the agent by another route than a wake. */
  readonly isInHand: boolean
}

/**
 * Returns why a subscription does not send, or did not send, an event of its audience; undefined: it does, or did. Events that presence
 * held, and those without a route, are recorded elsewhere. Pure. Source: D27.
 */
export function nonWakeOf(
  subscription: WakeSubscription,
  event: LogEvent,
  { siblings, isInHand }: Circumstances,
): NonWake | undefined {
  if (!concerns(subscription, event)) return undefined
  const decision = decisionOn(subscription, event)
  if (!isWake(decision)) return decision
  if (isFollowed(subscription, event)) return { action: 'skip', reason: 'told_elsewhere' }
  if (event.logId > subscription.cursorLogId) return waitOf(subscription)
  if (isInHand) return { action: 'skip', reason: 'already_in_hand' }
  // A sibling that is paused today was not when it sent the event.
  const active = siblings.map((sibling) => ({ ...sibling, status: 'active' as const }))
  if (isWokenBySibling(subscription, event, active)) return { action: 'skip', reason: 'told_elsewhere' }
  return undefined
}

/** The decision of the policy on an event where presence has no part in it. */
function decisionOn(subscription: WakeSubscription, event: LogEvent): Decision {
  if (isOwnAct(subscription, event)) return ownAct
  const { harnessTarget, audience } = subscription
  const wakePolicy = wakePolicyOf(event, audience)
  if (wakePolicy === 'immediate') return { action: 'deliver', reason: 'receiver_decides' }
  return decide(wakePolicy, routeOf(harnessTarget), presenceOf(undefined, event.createdAt))
}

function waitOf({ status, harnessTarget, parkedUntil }: WakeSubscription): NonWake | undefined {
  if (status === 'paused' || status === 'degraded') return { action: 'wait', reason: status }
  if (status !== 'active' || !isDeliverable(harnessTarget)) return { action: 'wait', reason: 'no_channel' }
  if (parkedUntil !== null) return { action: 'wait', reason: 'usage_limit' }
  return undefined
}
