import { Problem } from '../errors.ts'
import { logBounds } from '../log/event-store.ts'
import type { Caller } from '../registry/callers/caller.ts'
import { isOn } from '../registry/subscriptions/status.ts'
import type { WakeSubscription } from '../registry/subscriptions/subscription.ts'
import type { Transaction } from '../storage/database.ts'
import { readPending } from '../wakes/read/pending.ts'
import { findDelivery } from '../wakes/store/delivery-store.ts'
import { makeDueNow } from '../wakes/store/due-store.ts'
import { insertReplay, readFailedRanges } from '../wakes/store/replay-store.ts'
import type { SubscriptionContext } from './context.ts'
import { requireOwnSubscription } from './read.ts'
import { subscriptionEvent } from './subscription-event.ts'
import { requireWatermark } from './watermark.ts'

/** The most events at once. For more there is resync, which needs no row for each event. */
const replaysMax = 10_000

/** What to send again: one delivery, a range of the log, or everything that failed since an instant (ms since the epoch). */
type ReplayInput =
  | { readonly eventId: string }
  | { readonly fromLogId: number; readonly toLogId: number }
  | { readonly failedSince: number }

/**
 * Sends events again without moving the cursor: each under its `logId` and a new `eventId`, in log order, before anything newer; as
 * one digest where the subscription coalesces. What no longer matches is left out. With `failedSince`, `earliestLogId` says that
 * some of what failed is no longer kept.
 * Errors: `subscription-not-found`, `forbidden`, `subscription-degraded`, `subscription-paused`, `watermark-ahead`, `watermark-expired`, `not-found` for an
 * unknown delivery, `invalid-request` for too many events.
 */
export async function replayDeliveries(
  context: SubscriptionContext,
  caller: Caller,
  id: string,
  input: ReplayInput,
): Promise<{ subscriptionId: string; eventsReplayed: number; earliestLogId?: number }> {
  const replayed = await context.db.transaction(async (tx) => {
    const subscription = await requireOwnSubscription(tx, caller, id)
    if (!isOn(subscription.status)) {
      throw new Problem(subscription.status === 'paused' ? 'subscription-paused' : 'subscription-degraded', {
        detail: `The subscription is ${subscription.status}. Make it active first: PATCH {"status":"active"}.`,
      })
    }
    let count = 0
    const { ranges, ...rest } = await rangesOf(tx, subscription, input)
    for (const range of ranges) count += await enqueue(tx, subscription, range, replaysMax - count)
    await makeDueNow(tx, id)
    await context.append(tx, subscription.projectId, [
      subscriptionEvent('subscription.replayed', caller, subscription, { eventsReplayed: count }),
    ])
    return { eventsReplayed: count, ...rest }
  })
  context.changed(id)
  return { subscriptionId: id, ...replayed }
}

interface Range {
  readonly fromLogId: number
  readonly toLogId: number
  /** Whether its outcome is on record. The cursor of a stream passes it a moment after its receipt. */
  readonly isDecided?: boolean
}

/** The ranges of a replay. `earliestLogId`: present if failed events before it were pruned. */
interface Requested {
  readonly ranges: readonly Range[]
  readonly earliestLogId?: number
}

async function rangesOf(tx: Transaction, subscription: WakeSubscription, input: ReplayInput): Promise<Requested> {
  const { id, projectId } = subscription
  if ('failedSince' in input) {
    const ranges = await readFailedRanges(tx, id, input.failedSince)
    const { prunedTo } = await logBounds(tx, projectId)
    return ranges.some(({ fromLogId }) => fromLogId <= prunedTo) ? { ranges, earliestLogId: prunedTo } : { ranges }
  }
  if ('fromLogId' in input) {
    await requireWatermark(tx, projectId, input.fromLogId - 1, 'fromLogId')
    return { ranges: [input] }
  }
  const delivery = await findDelivery(tx, id, input.eventId)
  if (!delivery) {
    throw new Problem('not-found', {
      field: 'eventId',
      detail: `eventId: this subscription has no delivery ${input.eventId}. GET …/deliveries lists its deliveries.`,
    })
  }
  await requireWatermark(tx, projectId, delivery.fromLogId - 1, 'eventId')
  return { ranges: [{ ...delivery, isDecided: delivery.outcome !== 'pending' }] }
}

async function enqueue(tx: Transaction, subscription: WakeSubscription, range: Range, room: number): Promise<number> {
  let count = 0
  let after = range.fromLogId - 1
  // What the cursor has not passed yet will be sent without a replay.
  const upTo = range.isDecided ? range.toLogId : Math.min(range.toLogId, subscription.cursorLogId)
  for (let more = after < upTo; more; ) {
    const page = await readPending(tx, subscription, after, upTo)
    for (const { logId } of page.events) if (await insertReplay(tx, subscription.id, logId)) count++
    if (count > room) {
      throw new Problem('invalid-request', {
        detail: `A replay has at most ${replaysMax} events. Send a smaller range, or use resync.`,
      })
    }
    after = page.scannedTo
    more = page.more
  }
  return count
}
