import type { Subscription } from '../../registry/subscriptions/subscription.ts'
import { type Attempt, retryWaitMaxMs } from '../channel.ts'

/** The wait after the first, the second and the third attempt, before jitter. Source: S1-34. */
const retryDelaysMs = [1000, 2000, 4000] as const
/** How many attempts an event has, unless its subscription asks for more with `retryForSeconds`. */
export const attemptsMax = retryDelaysMs.length + 1

/** The facts that a retry depends on. Instants and waits in ms. */
export interface Retry {
  /** The number of attempts so far, from 1. */
  readonly attempt: number
  readonly firstAt: number
  readonly now: number
  /** The wait that the receiver requested. */
  readonly requestedMs?: number
  readonly retryForSeconds?: number | undefined
  /** In [0, 1). */
  readonly random: () => number
}

/**
 * Returns the wait before the next attempt, in ms; undefined: there is none. Jitter only adds, up to a tenth, so that receivers that
 * failed together are not all tried together. Pure. Source: S1-34, D31.
 */
export function retryDelayMs({
  attempt,
  firstAt,
  now,
  requestedMs = 0,
  retryForSeconds = 0,
  random,
}: Retry): number | undefined {
  if (attempt >= attemptsMax && now - firstAt >= retryForSeconds * 1000) return undefined
  const scheduled = attempt < attemptsMax ? retryDelaysMs[attempt - 1]! : doubledMs(attempt)
  const wait = Math.max(scheduled, Math.min(requestedMs, retryWaitMaxMs))
  return Math.min(Math.ceil(wait * (1 + 0.1 * random())), retryWaitMaxMs)
}

/** After the last scheduled wait each one is twice as long, up to five minutes. */
function doubledMs(attempt: number): number {
  return Math.min(1000 * 2 ** Math.min(attempt - 1, 20), retryWaitMaxMs)
}

/** How many attempts a record has: the first one, which shows since when the receiver is away, and the latest. */
export const attemptsKept = 12

/** Returns the attempts to record. */
export function trimmed(attempts: readonly Attempt[]): readonly Attempt[] {
  return attempts.length <= attemptsKept ? attempts : [attempts[0]!, ...attempts.slice(1 - attemptsKept)]
}

/** True when an event is tried for longer than S1-34 allows. What gathers meanwhile is one digest. Source: D31. */
export const isLong = (attempts: readonly Attempt[]): boolean => attempts.length >= attemptsMax

/** Returns how long the receiver of a subscription may be away, in seconds; undefined: four attempts long. */
export function retryForSecondsOf(subscription: Subscription): number | undefined {
  return subscription.kind === 'wake' ? subscription.target.retryForSeconds : undefined
}
