import { setMaxListeners } from 'node:events'
import { GrowthSignal } from '../../log/growth-signal.ts'
import { singleEmission } from '../content/emission.ts'
import { maxInFlight } from '../rules/window.ts'
import { InFlight } from './in-flight.ts'
import type { PendingReader } from './pending-reader.ts'
import type { Run } from './run.ts'
import type { Sender } from './sender.ts'

/** Sends event by event, in order: up to `maxInFlight` of them at the same time. False: the lease has ended. */
export async function sendEach(run: Run, sender: Sender, reader: PendingReader): Promise<boolean> {
  const { context, subscription, lease, signal } = run
  const width = maxInFlight(subscription)
  const inFlight = new InFlight(sender)
  // Every attempt in flight listens for the abort, twice while it waits.
  if (width > 1) setMaxListeners(3 * width, signal)
  const growth = width > 1 ? new GrowthSignal(context.notifier, subscription.projectId) : undefined
  let { cursorLogId: after, lastEmittedLogId: previous } = lease.progress
  try {
    for (;;) {
      const page = isToYield(run) ? { events: [], scannedTo: after, more: false } : await reader.next(after)
      for (const event of page.events) {
        inFlight.start(singleEmission(subscription, event, previous, context.clock.now()), event.logId)
        previous = event.logId
        if (inFlight.count >= width && !(await inFlight.finishOldest())) return false
      }
      after = page.scannedTo
      if (page.events.length > 0 || page.more) continue
      if (inFlight.count === 0) {
        lease.skipTo(after)
        return true
      }
      // New events are sent without a wait for the oldest one in flight.
      const oldest = await Promise.race([inFlight.oldestSettled(), growth?.next()])
      if (oldest && !(await inFlight.finishOldest())) return false
    }
  } finally {
    growth?.close()
    await inFlight.allSettled()
  }
}

/** Whether the run ends although there is more to send, so that other gateways can take the subscription. */
function isToYield({ context, lease }: Run): boolean {
  return lease.isDueToYield(context.clock.now()) && context.hasPeers()
}
