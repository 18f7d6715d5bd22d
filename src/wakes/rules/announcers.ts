import { isOn } from '../../registry/subscriptions/status.ts'
import type { WakeSubscription } from '../../registry/subscriptions/subscription.ts'
import { targets } from '../../words/targets.ts'

/** The fields that decide if a subscription announces what waits. */
type Announcer = Pick<
  WakeSubscription,
  'id' | 'trigger' | 'harnessTarget' | 'target' | 'status' | 'managedBy' | 'announcesWaiting' | 'createdAt'
>

/** A subscription that is made this long after another one of the same target belongs to the same start of a harness. */
const togetherMs = 60_000

/** True when a subscription may announce what waits for its agent: it is about mail or tasks, and its agent set its target. */
export function mayAnnounce({ trigger, harnessTarget, status, managedBy }: Omit<Announcer, 'id'>): boolean {
  const isAboutWork = trigger === 'SENT_TO_ME' || trigger === 'TASK_STATE_CHANGED'
  const { hasChannel } = targets[harnessTarget]
  return isAboutWork && hasChannel && isOn(status) && managedBy === null
}

/** Returns the subscriptions that announce what waits: one for each target, the one about mail first. Pure. Source: D29. */
export function announcers<Subscription extends Announcer>(subscriptions: readonly Subscription[]): Subscription[] {
  const byTarget = new Map<string, Subscription>()
  for (const one of subscriptions) {
    if (!mayAnnounce(one)) continue
    const known = byTarget.get(targetOf(one))
    if (!known || (known.trigger !== 'SENT_TO_ME' && one.trigger === 'SENT_TO_ME')) byTarget.set(targetOf(one), one)
  }
  return [...byTarget.values()]
}

/** True when another subscription of the same target, made just before a new one, already announces what waits. Pure. */
export function isAnnounced(made: Announcer, others: readonly Announcer[]): boolean {
  return others.some(
    (other) =>
      other.id !== made.id &&
      other.announcesWaiting &&
      targetOf(other) === targetOf(made) &&
      made.createdAt - other.createdAt < togetherMs,
  )
}

function targetOf({ harnessTarget, target }: Pick<Announcer, 'harnessTarget' | 'target'>): string {
  return `${harnessTarget} ${target.url ?? ''}`
}
