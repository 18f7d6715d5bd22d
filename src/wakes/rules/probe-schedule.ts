import type { WakeSubscription } from '../../registry/subscriptions/subscription.ts'

/** The wait before the first probe, and the longest wait between two. Source: D37. */
const firstMs = 30_000
const longestMs = 1_800_000
/** The latest that a probe can be due after now: a later instant was written by a clock that was ahead. */
export const probeWithinMs = longestMs * 1.2

/** Returns when a degraded receiver is tried next, of what is stored: it is looked at once before the first try. Pure. */
export const nextProbeShown = (probeAt: number, { updatedAt }: Pick<Probed, 'updatedAt'>): number =>
  Math.max(probeAt, updatedAt + firstMs)

type Probed = Pick<WakeSubscription, 'harnessTarget' | 'target' | 'updatedAt'>

/** Returns what is done about a degraded subscription whose probe is due. `random` in [0, 1). Pure. Instants in ms since the epoch. */
export function probeStep(
  { harnessTarget, target, updatedAt }: Probed,
  now: number,
  random: number,
): { readonly next: 'none' | 'try' } | { readonly next: 'wait'; readonly until: number } {
  if (harnessTarget !== 'a2a-webhook' || target.probe === false) return { next: 'none' }
  const firstAt = updatedAt + jittered(firstMs, random)
  // An instant after now was written by a clock that was ahead.
  return now < updatedAt + firstMs && updatedAt <= now ? { next: 'wait', until: firstAt } : { next: 'try' }
}

/** Returns when a receiver is tried again that was not there: each wait is about as long as all before it. Pure. */
export function nextProbeAt({ updatedAt }: Pick<Probed, 'updatedAt'>, now: number, random: number): number {
  return now + jittered(Math.min(longestMs, Math.max(firstMs, now - updatedAt)), random)
}

function jittered(ms: number, random: number): number {
  return Math.ceil(ms * (1 + 0.2 * random))
}
