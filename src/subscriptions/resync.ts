import { Problem } from '../errors.ts'
import type { Caller } from '../registry/callers/caller.ts'
import { isOn } from '../registry/subscriptions/status.ts'
import type { WakeSubscription } from '../registry/subscriptions/subscription.ts'
import { lockSubscription } from '../registry/subscriptions/subscription-store.ts'
import { isDeliverable } from '../registry/subscriptions/targets.ts'
import type { Transaction } from '../storage/database.ts'
import { readPending } from '../wakes/read/pending.ts'
import { changeState } from '../wakes/store/change-state.ts'
import { dropUnfinished } from '../wakes/store/unfinished-store.ts'
import type { SubscriptionContext } from './context.ts'
import { requireOwnSubscription } from './read.ts'
import { subscriptionEvent } from './subscription-event.ts'
import { requireWatermark } from './watermark.ts'

/**
 * Moves a cursor back to a watermark: everything after it that matches now is sent again by the normal path, under its `logId` and
 * a new `eventId`. Source: S1-29, S1-32, D5.
 * Errors: `subscription-not-found`, `forbidden`, `subscription-degraded`, `subscription-paused`, `watermark-ahead`, `watermark-expired`.
 */
export async function resyncSubscription(
  context: SubscriptionContext,
  caller: Caller,
  id: string,
  sinceLogId: number,
): Promise<{ subscriptionId: string; eventsReplayed: number; lastLogId: number }> {
  const result = await context.db.transaction(async (tx) => {
    await lockSubscription(tx, id)
    const before = await requireOwnSubscription(tx, caller, id)
    if (!isOn(before.status)) {
      throw new Problem(before.status === 'paused' ? 'subscription-paused' : 'subscription-degraded', {
        detail: `The subscription is ${before.status}${before.reason ? ` (${before.reason})` : ''}. Make it active first: PATCH {"status":"active"} resumes from its cursor.`,
      })
    }
    await requireWatermark(tx, before.projectId, sinceLogId)
    const replay = await measureReplay(tx, before, sinceLogId)
    // Also where the cursor stays: what is open, or was reported and not passed yet, is after it.
    await dropUnfinished(tx, id)
    await changeState(tx, before, {
      ...before,
      cursorLogId: sinceLogId,
      // The receiver has seen this one, it says: the first emission continues from there.
      lastEmittedLogId: sinceLogId === 0 ? null : sinceLogId,
      failing: null,
      generation: before.generation + 1,
      generationAt: tx.now,
      // One digest in `leading` mode too: no quiet spell begins with what is sent again.
      resumeWithDigest: before.resumeWithDigest || before.coalesceMs > 0,
      dueAt: replay.eventsReplayed > 0 && before.status === 'active' ? tx.now : null,
    })
    await context.append(tx, before.projectId, [
      subscriptionEvent('subscription.resynced', caller, before, { sinceLogId, ...replay }),
    ])
    return { subscriptionId: id, ...replay }
  })
  context.changed(id)
  return result
}

async function measureReplay(
  tx: Transaction,
  subscription: WakeSubscription,
  sinceLogId: number,
): Promise<{ eventsReplayed: number; lastLogId: number }> {
  // A target without a channel keeps its cursor until there is one: nothing is sent again now.
  if (!isDeliverable(subscription.harnessTarget)) return { eventsReplayed: 0, lastLogId: sinceLogId }
  let eventsReplayed = 0
  let lastLogId = sinceLogId
  let after = sinceLogId
  for (;;) {
    const page = await readPending(tx, subscription, after)
    eventsReplayed += page.events.length
    lastLogId = page.events.at(-1)?.logId ?? lastLogId
    after = page.scannedTo
    if (!page.more) return { eventsReplayed, lastLogId }
  }
}
