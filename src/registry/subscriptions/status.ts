/**
 * `active`: it is sent for. `waiting`: it is sent for as soon as a channel is connected. `degraded`: the engine gave up on its
 * receiver. `paused`: it was stopped by hand, or with what it depended on. Source: D5, D28.
 */
export type SubscriptionStatus = 'active' | 'waiting' | 'degraded' | 'paused'

/** Which status may follow which. A removed subscription has no row, so it has no status either. */
export const subscriptionTransitions = {
  active: ['degraded', 'paused', 'waiting'],
  waiting: ['active', 'paused'],
  degraded: ['active', 'paused', 'waiting'], // by hand, or by a sign of life of its agent: D5, D31
  paused: ['active', 'waiting'],
} as const satisfies Record<SubscriptionStatus, readonly SubscriptionStatus[]>

type Transitions = typeof subscriptionTransitions

/** The statuses that may become `To`. */
export type StatusBefore<To extends SubscriptionStatus> = {
  [From in SubscriptionStatus]: To extends Transitions[From][number] ? From : never
}[SubscriptionStatus]

/** Returns the statuses that may become `to`. */
export function statusesBefore<To extends SubscriptionStatus>(to: To): readonly StatusBefore<To>[] {
  const all = Object.keys(subscriptionTransitions) as SubscriptionStatus[]
  return all.filter((from) => from !== to && mayBecome(from, to)) as StatusBefore<To>[]
}

/** True when a subscription of status `from` may have the status `to` next. Keeping a status is always allowed. */
export function mayBecome(from: SubscriptionStatus, to: SubscriptionStatus): boolean {
  const next: readonly SubscriptionStatus[] = subscriptionTransitions[from]
  return from === to || next.includes(to)
}

/** True when its agent wants wakes from it: it is sent for, or would be if its channel were connected. */
export const isOn = (status: SubscriptionStatus): boolean => status === 'active' || status === 'waiting'

/** Why a subscription waits: nothing is connected that its wakes could be written to. */
export const notConnected = 'no channel is connected'

/** Why a push subscription is paused for good: its task is in a final state. */
export const taskFinished = 'task finished'

/** Why a subscription is paused that another agent pointed somewhere: the grant to manage it was revoked. */
export const grantRevoked = 'grant-revoked'
