import { Problem } from '../errors.ts'
import { logBounds } from '../log/event-store.ts'
import type { Caller } from '../registry/callers/caller.ts'
import { isOn } from '../registry/subscriptions/status.ts'
import type { WakeSubscription } from '../registry/subscriptions/subscription.ts'
import type { Reader, Transaction } from '../storage/database.ts'
import { pageMax } from '../wakes/read/pending.ts'
import { scanPending, selectsAlike } from '../wakes/read/scan-pending.ts'
import { findDelivery } from '../wakes/store/delivery-store.ts'
import { makeDueNow } from '../wakes/store/due-store.ts'
import { insertReplays, readFailedRanges } from '../wakes/store/replay-store.ts'
import type { SubscriptionContext } from './context.ts'
import { requireOwnSubscription } from './read.ts'
import { subscriptionEvent } from './subscription-event.ts'
import { requireWatermark } from './watermark.ts'

/** The most events at once. For more there is resync, which needs no row for each event. */
const replaysMax = 10_000

/** How many events of the agent are looked at, in full pages, whether they match or not: the caller waits until all are read. */
const readMax = 50_000

/** Ranges that are looked up before other requests go on: a few ms. */
const rangesAtOnce = 50

/** The wakes to send again: one delivery, a range of the log, or everything that failed since an instant (ms since the epoch). */
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
  const { db } = context
  for (;;) {
    const { subscription, ranges, ...rest } = await db.transaction(async (tx) => {
      const subscription = await requireReplayable(tx, caller, id)
      return { subscription, ...(await rangesOf(tx, subscription, input)) }
    })
    const logIds = await eventsIn(db, subscription, ranges)
    const eventsReplayed = await db.transaction(async (tx) => {
      const now = await requireReplayable(tx, caller, id)
      return selectsAlike(subscription, now) ? requestReplays(context, tx, caller, now, logIds) : undefined
    })
    // undefined: another request changed the subscription meanwhile.
    if (eventsReplayed === undefined) continue
    context.changed(id)
    return { subscriptionId: id, eventsReplayed, ...rest }
  }
}

async function requestReplays(
  context: SubscriptionContext,
  tx: Transaction,
  caller: Caller,
  subscription: WakeSubscription,
  logIds: readonly number[],
): Promise<number> {
  const eventsReplayed = await insertReplays(tx, subscription.id, logIds)
  await makeDueNow(tx, subscription.id)
  await context.append(tx, subscription.projectId, [
    subscriptionEvent('subscription.replayed', caller, subscription, { eventsReplayed }),
  ])
  return eventsReplayed
}

async function requireReplayable(tx: Transaction, caller: Caller, id: string): Promise<WakeSubscription> {
  const subscription = await requireOwnSubscription(tx, caller, id)
  if (isOn(subscription.status)) return subscription
  throw new Problem(subscription.status === 'paused' ? 'subscription-paused' : 'subscription-degraded', {
    detail: `The subscription is ${subscription.status}.`,
    remedy: 'activate',
    extra: { subscriptionId: id },
  })
}

interface Range {
  readonly fromLogId: number
  readonly toLogId: number
  /** True when its outcome is on record. The cursor of a stream passes it a moment after its receipt. */
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
    const ranges = await readFailedRanges(tx, id, input.failedSince, replaysMax + 1)
    if (ranges.length > replaysMax) throw tooMany()
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
      detail: `eventId: this subscription has no delivery ${input.eventId}.`,
      remedy: 'list-deliveries',
      extra: { subscriptionId: id },
    })
  }
  await requireWatermark(tx, projectId, delivery.fromLogId - 1, 'eventId')
  return { ranges: [{ ...delivery, isDecided: delivery.outcome !== 'pending' }] }
}

/** Finds the events of the ranges that still match. Not in a transaction: a range may be the whole log. Errors: `invalid-request` for too many. */
async function eventsIn(db: Reader, subscription: WakeSubscription, ranges: readonly Range[]): Promise<number[]> {
  const logIds: number[] = []
  let read = 0
  for (const [index, { fromLogId, toLogId, isDecided }] of ranges.entries()) {
    // Events that the cursor has not passed yet are sent without a replay.
    const upTo = isDecided ? toLogId : Math.min(toLogId, subscription.cursorLogId)
    if (fromLogId > upTo) continue
    for await (const { events, more } of scanPending(db, subscription, fromLogId - 1, { upTo })) {
      for (const { logId } of events) logIds.push(logId)
      if (logIds.length > replaysMax) throw tooMany()
      if (more) read += pageMax
      if (read > readMax) throw tooMany()
    }
    if (index % rangesAtOnce === rangesAtOnce - 1) await new Promise(setImmediate)
  }
  return logIds
}

function tooMany(): Problem {
  return new Problem('invalid-request', {
    detail: `A replay sends at most ${replaysMax} events, and looks for them among at most ${readMax}. Send smaller ranges with fromLogId and toLogId, or use resync.`,
  })
}
