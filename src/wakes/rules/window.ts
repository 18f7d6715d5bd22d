import type { PushSubscription, Subscription, WakeSubscription } from '../../registry/subscriptions/subscription.ts'
import { targets } from '../../words/targets.ts'

/**
 * How events are sent: each by itself, as digests, or the first one after a quiet time by itself and the rest as a digest (`leading`, the
 * default). Source: S1-39, D3, D25.
 */
type DeliveryForm = 'each' | 'digest' | 'leading'

export function formOf(subscription: Subscription): DeliveryForm {
  if (subscription.kind === 'push' || targets[subscription.harnessTarget].keepsCursor) return 'each'
  if (subscription.resumeWithDigest) return 'digest'
  if (isLeading(subscription)) return 'leading'
  return subscription.coalesceMs > 0 ? 'digest' : 'each'
}

/** The digest window of a subscription. A push subscription has none. */
type Windowed =
  | Pick<WakeSubscription, 'kind' | 'target' | 'coalesceMs' | 'windowUntil' | 'parkedUntil'>
  | Pick<PushSubscription, 'kind' | 'windowUntil'>

/**
 * Returns when the window is over that an event opens or finds open. Source: S1-39, D3.
 * Not before its agent is parked no more (D50). `leading`: at once after a quiet spell, else when the window after the last wake closes. All instants in ms since the epoch.
 */
export function dueAt(subscription: Windowed, createdAt: number, now: number): number {
  if (subscription.kind === 'push') return Math.min(createdAt, now)
  const { coalesceMs, windowUntil, parkedUntil } = subscription
  const closesAt = isLeading(subscription) ? Math.max(createdAt, windowUntil) : createdAt + coalesceMs
  // No window is longer than this, unless the clock was set back while it was open.
  return Math.max(Math.min(closesAt, now + coalesceMs), parkedUntil ?? 0)
}

/** Returns until when events gather after a wake that is sent at `now`. Both in ms since the epoch. */
export function windowAfter(subscription: Subscription, windowUntil: number, now: number): number {
  const opens = subscription.kind === 'wake' && isLeading(subscription)
  return opens ? now + subscription.coalesceMs : windowUntil
}

/** Returns how many emissions of a subscription may be in flight at the same time. */
export function maxInFlight(subscription: Subscription): number {
  return subscription.kind === 'wake' ? (subscription.target.maxInFlight ?? 1) : 1
}

function isLeading({ target, coalesceMs }: Pick<WakeSubscription, 'target' | 'coalesceMs'>): boolean {
  return coalesceMs > 0 && target.coalesceMode !== 'window'
}
