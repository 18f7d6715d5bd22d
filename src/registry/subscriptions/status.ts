/** `active`: it is sent for. `degraded`: the engine gave up on its receiver. `paused`: it was stopped by hand, or with what it depended on. */
export type SubscriptionStatus = 'active' | 'degraded' | 'paused'

/** Which status may follow which. A removed subscription has no row, so it has no status either. */
export const subscriptionTransitions = {
  active: ['degraded', 'paused'],
  degraded: ['active', 'paused'], // back to active only by hand: D5
  paused: ['active'],
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

/** Whether a subscription of status `from` may have the status `to` next. Keeping a status is always allowed. */
export function mayBecome(from: SubscriptionStatus, to: SubscriptionStatus): boolean {
  const next: readonly SubscriptionStatus[] = subscriptionTransitions[from]
  return from === to || next.includes(to)
}

/** Why a push subscription is paused for good: its task is in a final state. */
export const taskFinished = 'task finished'

/** Why a subscription is paused that another agent pointed somewhere: the grant to manage it was revoked. */
export const grantRevoked = 'grant-revoked'
