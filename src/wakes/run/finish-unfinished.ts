import type { Subscription } from '../../registry/subscriptions/subscription.ts'
import { targets } from '../../registry/subscriptions/targets.ts'
import { retryForSecondsOf } from '../rules/retry-schedule.ts'
import { maxInFlight } from '../rules/window.ts'
import { readUnfinished } from '../store/unfinished-store.ts'
import { InFlight } from './in-flight.ts'
import type { Run } from './run.ts'
import type { Sender } from './sender.ts'

/**
 * Finishes the emissions that earlier leases have kept: sends them again as they were, or writes what follows from a receipt that
 * came meanwhile. Nothing newer is sent before. False: the lease has ended.
 */
export async function finishUnfinished(run: Run, sender: Sender): Promise<boolean> {
  const { context, subscription, lease } = run
  if (!mayKeep(subscription)) return true
  const width = maxInFlight(subscription)
  const inFlight = new InFlight(sender)
  try {
    for (const { emission, cursorLogId } of await readUnfinished(context.db, subscription.id)) {
      // A resync may have moved the cursor since.
      inFlight.start(emission, Math.max(cursorLogId, lease.progress.cursorLogId))
      if (emission.payload.reason === 'waiting') lease.announced()
      if (inFlight.count >= width && !(await inFlight.finishOldest())) return false
    }
    while (inFlight.count > 0) if (!(await inFlight.finishOldest())) return false
    return true
  } finally {
    await inFlight.allSettled()
  }
}

/** Whether emissions of a subscription may be open for long. */
function mayKeep(subscription: Subscription): boolean {
  if (subscription.kind === 'push') return false
  return targets[subscription.harnessTarget].connects || (retryForSecondsOf(subscription) ?? 0) > 0
}
