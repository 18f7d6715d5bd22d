import { setMaxListeners } from 'node:events'
import { maxInFlight } from '../rules/window.ts'
import { readUnfinished } from '../store/unfinished-store.ts'
import { InFlight } from './in-flight.ts'
import type { Run } from './run.ts'
import type { Sender } from './sender.ts'

/**
 * Finishes the emissions that earlier leases have kept: sends them again as they were, or writes what follows from a receipt that
 * came meanwhile. Nothing newer is sent before. Returns false when the lease has ended.
 */
export async function finishUnfinished(run: Run, sender: Sender): Promise<boolean> {
  const { context, subscription, lease, signal } = run
  // Whatever the target is now: it may have been another one when they were kept.
  if (subscription.kind === 'push') return true
  const width = maxInFlight(subscription)
  const inFlight = new InFlight(sender)
  if (width > 1) setMaxListeners(3 * width, signal)
  try {
    for (const { emission, cursorLogId } of await readUnfinished(context.db, subscription.id)) {
      // A resync may have moved the cursor since.
      inFlight.start(emission, Math.max(cursorLogId, lease.progress.cursorLogId))
      if (emission.payload.reason === 'waiting') lease.announced()
      if (emission.releasedIn === subscription.announcesHeld) lease.sentReleased()
      if (inFlight.count >= width && !(await inFlight.finishOldest())) return false
    }
    while (inFlight.count > 0) if (!(await inFlight.finishOldest())) return false
    return true
  } finally {
    await inFlight.allSettled()
  }
}
