import { setMaxListeners } from 'node:events'
import type { LogEvent } from '../../log/event.ts'
import { type Emission, singleEmission } from '../content/emission.ts'
import { readPending, withoutDelivered } from '../read/pending.ts'
import { maxInFlight } from '../rules/window.ts'
import { readUnfinished } from '../store/unfinished-store.ts'
import { InFlight } from './in-flight.ts'
import type { Run } from './run.ts'
import type { Sender } from './sender.ts'

/**
 * Finishes the emissions that earlier leases have kept: sends them again as they were, or writes what follows from a receipt that
 * came meanwhile. Of several in flight some may be kept and one before them not: that one goes in its place. Nothing newer is sent
 * before. Returns false when the lease has ended.
 */
export async function finishUnfinished(run: Run, sender: Sender): Promise<boolean> {
  const { context, subscription, lease, signal } = run
  // Whatever the target is now: it may have been another one when they were kept.
  if (subscription.kind === 'push') return true
  const width = maxInFlight(subscription)
  const inFlight = new InFlight(sender)
  if (width > 1) setMaxListeners(3 * width, signal)
  const start = (emission: Emission, cursorLogId: number): boolean | Promise<boolean> => {
    inFlight.start(emission, cursorLogId)
    return inFlight.count < width || inFlight.finishOldest()
  }
  try {
    let { cursorLogId: after, lastEmittedLogId: previous } = lease.progress
    for (const { emission, cursorLogId } of await readUnfinished(context.db, subscription.id)) {
      for (const event of width > 1 ? await unkept(run, after, emission.fromLogId) : []) {
        const unkeptEmission = singleEmission(subscription, event, previous, context.clock.now())
        if (!(await start(unkeptEmission, event.logId))) return false
        previous = event.logId
      }
      // A resync may have moved the cursor since.
      after = Math.max(cursorLogId, after)
      previous = emission.logId
      if (emission.payload.reason === 'waiting') lease.announced()
      if (emission.releasedIn === subscription.announcesHeld) lease.sentReleased()
      if (!(await start(emission, after))) return false
    }
    while (inFlight.count > 0) if (!(await inFlight.finishOldest())) return false
    return true
  } finally {
    await inFlight.allSettled()
  }
}

/** Reads what is to be sent after the cursor and before an emission that was kept. */
async function unkept({ context, subscription }: Run, cursor: number, before: number): Promise<readonly LogEvent[]> {
  const events: LogEvent[] = []
  for (let after = cursor, more = after < before - 1; more; ) {
    const page = await readPending(context.db, subscription, after, before - 1)
    events.push(...(await withoutDelivered(context.findDelivered, subscription, page.events)))
    after = page.scannedTo
    more = page.more
  }
  return events
}
