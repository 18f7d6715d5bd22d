import { Problem } from '../errors.ts'
import { newUlid } from '../lib/ids.ts'
import { lockLog, logBounds } from '../log/event-store.ts'
import { identityOf } from '../registry/agents/agents.ts'
import type { Caller } from '../registry/callers/caller.ts'
import { isDeliverable, type Subscription } from '../registry/subscriptions/subscription.ts'
import { changeSubscription, lockSubscription } from '../registry/subscriptions/subscription-store.ts'
import type { Transaction } from '../storage/database.ts'
import { type Attempt, attemptFor } from '../wakes/channel.ts'
import type { Emission } from '../wakes/content/emission.ts'
import { readPending } from '../wakes/read/pending.ts'
import { event, requireOwnSubscription, requireSubscription, type SubscriptionContext } from './subscriptions.ts'

/**
 * Moves a cursor back to a watermark: everything behind it that matches now is sent again, under its `logId` and a new
 * `eventId`, by the path that sends everything. Source: S1-29, S1-32, D5.
 * Errors: `subscription-degraded`, `watermark-ahead`, `watermark-expired` with the earliest watermark there is.
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
    if (before.status !== 'active') {
      throw new Problem('subscription-degraded', {
        detail: `The subscription is ${before.status}${before.reason ? ` (${before.reason})` : ''}. Make it active first: PATCH {"status":"active"} resumes from its cursor.`,
      })
    }
    await requireWatermark(tx, before.projectId, sinceLogId)
    const replay = await measureReplay(tx, before, sinceLogId)
    await changeSubscription(tx, before, {
      ...before,
      cursorLogId: sinceLogId,
      // What the receiver says it has seen: the first re-emission continues from there.
      lastEmittedLogId: sinceLogId === 0 ? null : sinceLogId,
      generation: before.generation + 1,
      generationAt: tx.now,
      // One digest in `leading` mode too: what is sent again is no quiet spell's first event.
      resumeWithDigest: before.resumeWithDigest || before.coalesceMs > 0,
      dueAt: replay.eventsReplayed > 0 ? tx.now : null,
      updatedAt: tx.now,
    })
    await context.append(tx, before.projectId, [
      event('subscription.resynced', caller, before, { sinceLogId, ...replay }),
    ])
    return { subscriptionId: id, ...replay }
  })
  context.changed(id)
  return result
}

/** A watermark must lie within the log: what is gone is said, never skipped. */
export async function requireWatermark(
  tx: Transaction,
  projectId: string,
  sinceLogId: number,
  field = 'sinceLogId',
): Promise<void> {
  await lockLog(tx, projectId)
  const { head, tail } = await logBounds(tx, projectId)
  if (sinceLogId > head) {
    throw new Problem('watermark-ahead', {
      field,
      detail: `${field}: the log ends at ${head}. Send the logId of the last wake that you handled.`,
      extra: { lastLogId: head },
    })
  }
  if (sinceLogId < tail) {
    throw new Problem('watermark-expired', {
      field,
      detail: `${field}: events up to ${tail} are no longer kept. Start from ${tail}, and read what was before from the tasks.`,
      extra: { earliestLogId: tail },
    })
  }
}

async function measureReplay(
  tx: Transaction,
  subscription: Subscription,
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

/** Sends a signed `wake/test` at once, one try, recorded nowhere. It repeats the watermark, so that it moves none. */
export async function testSubscription(
  context: SubscriptionContext,
  caller: Caller,
  id: string,
): Promise<{ eventId: string; attempt: Attempt }> {
  const subscription = await requireSubscription(context.db, caller, id)
  const channel = context.channels[subscription.harnessTarget as keyof typeof context.channels]
  if (!channel) {
    throw new Problem('invalid-request', {
      field: 'harnessTarget',
      detail: `harnessTarget: this gateway sends nothing to ${subscription.harnessTarget}; only a2a-webhook can be tested.`,
    })
  }
  const emittedAt = context.clock.now()
  const logId = subscription.lastEmittedLogId ?? 0
  const emission: Emission = {
    eventId: newUlid(emittedAt),
    eventType: 'wake/test',
    logId,
    fromLogId: logId,
    prevLogId: subscription.lastEmittedLogId,
    eventCount: 0,
    emittedAt,
    payload: { requestedBy: caller.identity },
  }
  const agentIdentity = await identityOf(context.db, subscription.agentId)
  const attempt = await channel.attempt({ subscription, agentIdentity, emission, signal: new AbortController().signal })
  return { eventId: emission.eventId, attempt: attemptFor(caller, attempt) }
}
