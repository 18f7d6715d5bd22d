import { spawns } from '../../registry/subscriptions/stream-capabilities.ts'
import type { WakeSubscription } from '../../registry/subscriptions/subscription.ts'
import type { Presence } from '../../words/presence.ts'
import { decide, isWake, routeOf } from './policy.ts'

/** The fields of presence that the policy looks at. */
export type Gate = Pick<Presence, 'state' | 'activeTurnId' | 'capabilities'>

/**
 * True when a report changes what the policy looks at. Most reports only repeat: they come every minute from every harness, and end
 * here. Pure.
 */
export function isEdge(before: Gate, after: Gate): boolean {
  return (
    before.state !== after.state ||
    before.activeTurnId !== after.activeTurnId ||
    before.capabilities.join(' ') !== after.capabilities.join(' ')
  )
}

/**
 * True when what presence held for a subscription may wake its agent now. Not a reader that starts a process for each wake: what was held was
 * for a conversation. Pure. Source: S1-10…S1-13, D34.
 */
export function letsThrough(
  { harnessTarget, streamCapabilities }: Pick<WakeSubscription, 'harnessTarget' | 'streamCapabilities'>,
  presence: Gate,
): boolean {
  const route = routeOf(harnessTarget, [...streamCapabilities, ...presence.capabilities])
  return !spawns({ streamCapabilities }) && isWake(decide('immediate', route, presence))
}
