import { setMaxListeners } from 'node:events'
import { GrowthSignal } from '../../log/growth-signal.ts'
import { targets } from '../../words/targets.ts'
import { singleEmission } from '../content/emission.ts'
import type { PendingPage } from '../read/pending.ts'
import { maxInFlight } from '../rules/window.ts'
import { InFlight } from './in-flight.ts'
import type { PendingReader } from './pending-reader.ts'
import type { Run } from './run.ts'
import type { Sender } from './sender.ts'

/** Sends event by event, in order: up to `maxInFlight` of them at the same time. Returns false when the lease has ended. */
export function sendEach(run: Run, sender: Sender, reader: PendingReader): Promise<boolean> {
  const width = maxInFlight(run.subscription)
  return width > 1 ? sendAhead(run, sender, reader, width) : sendOneByOne(run, sender, reader)
}

/** Each event is sent once the one before it has arrived. */
async function sendOneByOne(run: Run, sender: Sender, reader: PendingReader): Promise<boolean> {
  const { context, subscription, lease } = run
  for (let after = lease.progress.cursorLogId; ; ) {
    const page = await nextPage(run, reader, after)
    for (const event of page.events) {
      const { lastEmittedLogId } = lease.progress
      const emission = singleEmission(subscription, event, lastEmittedLogId, context.clock.now())
      if (!(await sender.send(emission, event.logId))) return false
    }
    after = page.scannedTo
    if (page.events.length > 0 || page.more) continue
    lease.skipTo(after)
    return true
  }
}

async function sendAhead(run: Run, sender: Sender, reader: PendingReader, width: number): Promise<boolean> {
  const { context, subscription, lease, signal } = run
  const inFlight = new InFlight(sender)
  // Every attempt in flight listens for the abort while it waits.
  setMaxListeners(3 * width, signal)
  const growth = new GrowthSignal(context.notifier, subscription.projectId)
  let { cursorLogId: after, lastEmittedLogId: previous } = lease.progress
  const keepsCursor = subscription.kind === 'wake' && targets[subscription.harnessTarget].keepsCursor
  // Its receiver keeps the cursor when it takes this one: then it is done too, if all before it are.
  const doneBefore = (logId: number): number => (inFlight.count === 0 ? logId : lease.progress.cursorLogId)
  try {
    for (;;) {
      const page = await nextPage(run, reader, after)
      for (const event of page.events) {
        const emission = singleEmission(subscription, event, previous, context.clock.now())
        inFlight.start(keepsCursor ? { ...emission, doneTo: doneBefore(event.logId) } : emission, event.logId)
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
      const oldest = await Promise.race([inFlight.oldestSettled(), growth.next()])
      if (oldest && !(await inFlight.finishOldest())) return false
    }
  } finally {
    growth.close()
    await inFlight.allSettled()
  }
}

/** The next page; none where the run ends although there is more to send, so that other gateways can take the subscription. */
async function nextPage({ context, lease }: Run, reader: PendingReader, after: number): Promise<PendingPage> {
  const isToYield = lease.isDueToYield(context.clock.now()) && context.hasPeers()
  return isToYield ? { events: [], scannedTo: after, more: false } : reader.next(after)
}
