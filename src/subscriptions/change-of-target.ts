import type { SubscriptionStatus } from '../registry/subscriptions/status.ts'
import { isIdle, type WakeSubscription } from '../registry/subscriptions/subscription.ts'
import { type HarnessTarget, isDeliverable, targets } from '../words/targets.ts'

/** What another target changes for a subscription. */
export interface ChangeOfTarget {
  readonly isOther: boolean
  /** What waited in front of the cursor can be sent from now on: as one digest. */
  readonly opensChannel: boolean
  /** Everything was looked at and nothing more is sent: the cursor waits at the head of the log for a channel. */
  readonly closesIdle: boolean
  /** The target is signed, and there is no key. */
  readonly needsKey: boolean
}

/** Whether anything is sent for a subscription: its target has a channel, and that is connected where it has to be. */
function isSentFor({ harnessTarget, status }: WakeSubscription): boolean {
  return isDeliverable(harnessTarget) && status !== 'waiting'
}

/** Returns what it changes for a subscription when its wakes go to `harnessTarget` from now on, and it has a status. Pure. Source: D24. */
export function changeOfTarget(
  before: WakeSubscription,
  harnessTarget: HarnessTarget,
  status: SubscriptionStatus,
): ChangeOfTarget {
  const isOther = harnessTarget !== before.harnessTarget
  return {
    isOther,
    opensChannel: !isSentFor(before) && isDeliverable(harnessTarget) && isOther,
    closesIdle: isIdle(before) && (!isDeliverable(harnessTarget) || status === 'waiting'),
    needsKey: targets[harnessTarget].isSigned && before.signingKey === null,
  }
}
