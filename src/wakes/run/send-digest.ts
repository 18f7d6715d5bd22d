import type { LogEvent } from '../../log/event.ts'
import type { Subscription } from '../../registry/subscriptions/subscription.ts'
import { targets } from '../../words/targets.ts'
import { DigestBuilder } from '../content/digest.ts'
import { digestEmission, singleEmission } from '../content/emission.ts'
import { hidesSubjects } from '../content/payload.ts'
import { type PendingPage, readPending, withoutDelivered } from '../read/pending.ts'
import type { Run } from './run.ts'
import type { Sender } from './sender.ts'

/**
 * Sends everything in the lease's range as one digest. `waiting`: what waited for its reader from before it, if the digest announces
 * that. Returns false when the lease has ended.
 */
export async function sendDigest(run: Run, sender: Sender, waiting?: readonly LogEvent[]): Promise<boolean> {
  const { context, subscription, lease } = run
  const digest = new DigestBuilder(hidesSubjects(subscription))
  const { cursorLogId, lastEmittedLogId } = lease.progress
  let after = cursorLogId
  for (const event of waiting ?? []) digest.add(event)
  for (let more = true; more; ) {
    const page = await nextPage(run, after)
    for (const event of page.events) digest.add(event)
    after = page.scannedTo
    more = page.more
  }
  if (digest.count === 0) {
    lease.skipTo(after)
    return true
  }
  const reason = appears(subscription, waiting !== undefined) ? 'waiting' : undefined
  const emission = digestEmission(run, digest, lastEmittedLogId, context.clock.now(), reason)
  const releasedIn = lease.hasSentReleased && subscription.kind === 'wake' ? subscription.announcesHeld : 0
  return sender.send(releasedIn > 0 ? { ...emission, releasedIn } : emission, after)
}

/** True when a digest is sent because its reader has appeared. Source: D29. */
function appears(subscription: Subscription, announces: boolean): boolean {
  if (subscription.kind === 'push') return false
  return announces || (subscription.resumeWithDigest && targets[subscription.harnessTarget].connects)
}

/** True when the next event of a subscription was there before it was to announce what waits. */
export async function nextWaits(run: Run): Promise<boolean> {
  const [next] = (await nextPage(run, run.lease.progress.cursorLogId)).events
  return next !== undefined && next.createdAt <= run.subscription.generationAt
}

/** `leading`: sends the first event after a quiet spell alone, and a digest otherwise. Returns false when the lease has ended. */
export async function sendLeading(run: Run, sender: Sender): Promise<boolean> {
  const { context, subscription, lease } = run
  const { cursorLogId, lastEmittedLogId, windowUntil } = lease.progress
  const [first] = (await nextPage(run, cursorLogId)).events
  if (!first || first.createdAt < windowUntil) return sendDigest(run, sender)
  return sender.send(singleEmission(subscription, first, lastEmittedLogId, context.clock.now()), first.logId)
}

/** The next page of a digest's range, from the log and never from the cache: a digest covers the same events after a crash. */
async function nextPage({ context, subscription }: Run, after: number): Promise<PendingPage> {
  const { db, findDelivered } = context
  const page = await readPending(db, subscription, after, subscription.claimedToLogId ?? undefined)
  const events = await withoutDelivered(findDelivered, subscription, page.events)
  // Lets other work run between the pages of a long backlog.
  if (page.more) await new Promise(setImmediate)
  return { ...page, events }
}
