import type { Subscription, WakeTarget } from '../../registry/subscriptions/subscription.ts'

/** How a subscription's events are sent: each by itself, as digests, or the first of a quiet spell by itself and the rest as a digest. */
export type DeliveryForm = 'each' | 'digest' | 'leading'

export function formOf({ kind, target, coalesceMs, resumeWithDigest }: Subscription): DeliveryForm {
  if (kind === 'push') return 'each'
  if (resumeWithDigest) return 'digest'
  if ((target as WakeTarget).coalesceMode === 'leading') return 'leading'
  return coalesceMs > 0 ? 'digest' : 'each'
}

/**
 * When the window that an event opens, or finds open, is over. Source: S1-39, D3.
 * `leading`: at once after a quiet spell, else when the window behind the last wake closes. All instants in ms since the epoch.
 */
export function dueAt(
  subscription: { coalesceMs: number; windowUntil: number },
  target: WakeTarget,
  createdAt: number,
  now: number,
): number {
  const { coalesceMs, windowUntil } = subscription
  const closesAt = target.coalesceMode === 'leading' ? Math.max(createdAt, windowUntil) : createdAt + coalesceMs
  // No window is longer than this, unless the clock was set back while it was open.
  return Math.min(closesAt, now + coalesceMs)
}
