import { isIdle, type WakeSubscription } from '../registry/subscriptions/subscription.ts'
import { type HarnessTarget, isDeliverable, targets } from '../registry/subscriptions/targets.ts'

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

/** Returns what it changes for a subscription when its wakes go to `harnessTarget` from now on. Pure. Source: D24. */
export function changeOfTarget(before: WakeSubscription, harnessTarget: HarnessTarget): ChangeOfTarget {
  return {
    isOther: harnessTarget !== before.harnessTarget,
    opensChannel: !isDeliverable(before.harnessTarget) && isDeliverable(harnessTarget),
    closesIdle: isIdle(before) && !isDeliverable(harnessTarget),
    needsKey: targets[harnessTarget].isSigned && before.signingKey === null,
  }
}
