import { Problem } from '../errors.ts'
import { steadyClock } from '../lib/clock.ts'
import type { Caller } from '../registry/callers/caller.ts'
import { isOn } from '../registry/subscriptions/status.ts'
import type { WakeSubscription } from '../registry/subscriptions/subscription.ts'
import { lockSubscription } from '../registry/subscriptions/subscription-store.ts'
import type { Reader, Transaction } from '../storage/database.ts'
import { type PendingPage, readPending } from '../wakes/read/pending.ts'
import { scanPending, selectsAlike } from '../wakes/read/scan-pending.ts'
import { changeState, noteResynced } from '../wakes/store/change-state.ts'
import { dropUnfinished } from '../wakes/store/unfinished-store.ts'
import { isDeliverable } from '../words/targets.ts'
import type { SubscriptionContext } from './context.ts'
import { requireOwnSubscription } from './read.ts'
import { subscriptionEvent } from './subscription-event.ts'
import { requireWatermark } from './watermark.ts'

/** For how long a resync counts, in ms. The first page of a log is counted however long it takes. */
const countMaxMs = 500

/** The outcome of a resync. `countedTo`: present if not everything was counted: events after it are sent too. */
interface Resynced {
  readonly subscriptionId: string
  readonly eventsReplayed: number
  readonly lastLogId: number
  readonly countedTo?: number
}

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
): Promise<Resynced> {
  const { db } = context
  const countUntil = steadyClock.now() + countMaxMs
  for (;;) {
    const first = await db.transaction((tx) => requireResyncable(tx, caller, id, sinceLogId))
    const replay = new Replay(sinceLogId)
    await replay.scan(db, first, countUntil)
    const result = await db.transaction(async (tx) => {
      const before = await requireResyncable(tx, caller, id, sinceLogId)
      return selectsAlike(first, before) ? moveBack(context, tx, caller, before, replay) : undefined
    })
    // undefined: another request changed the subscription meanwhile.
    if (result === undefined) continue
    context.changed(id)
    return result
  }
}

async function moveBack(
  context: SubscriptionContext,
  tx: Transaction,
  caller: Caller,
  before: WakeSubscription,
  replay: Replay,
): Promise<Resynced> {
  const { id } = before
  const { sinceLogId } = replay
  await replay.scanRest(tx, before)
  const { counted } = replay
  // Also where the cursor stays: what is open, or was reported and not passed yet, is after it.
  await dropUnfinished(tx, id)
  await changeState(tx, before, {
    ...before,
    cursorLogId: sinceLogId,
    // The caller reports that its receiver has handled this one: the first emission continues from there.
    lastEmittedLogId: sinceLogId === 0 ? null : sinceLogId,
    failing: null,
    generation: before.generation + 1,
    generationAt: tx.now,
    // One digest in `leading` mode too: no quiet spell begins with what is sent again.
    resumeWithDigest: before.resumeWithDigest || before.coalesceMs > 0,
    dueAt: replay.mayHaveEvents && before.status === 'active' ? tx.now : null,
  })
  await noteResynced(tx, id)
  await context.append(tx, before.projectId, [
    subscriptionEvent('subscription.resynced', caller, before, { sinceLogId, ...counted }),
  ])
  return { subscriptionId: id, ...counted }
}

/** Returns the subscription, locked until the transaction ends. */
async function requireResyncable(
  tx: Transaction,
  caller: Caller,
  id: string,
  sinceLogId: number,
): Promise<WakeSubscription> {
  await lockSubscription(tx, id)
  const subscription = await requireOwnSubscription(tx, caller, id)
  const { status, reason } = subscription
  if (!isOn(status)) {
    throw new Problem(status === 'paused' ? 'subscription-paused' : 'subscription-degraded', {
      detail: `The subscription is ${status}${reason ? ` (${reason})` : ''}.`,
      remedy: 'resume',
      extra: { subscriptionId: id },
    })
  }
  await requireWatermark(tx, subscription.projectId, sinceLogId)
  return subscription
}

/** The events that a resync sends again. Nearly all of them are counted before the transaction: the log may be long. */
class Replay {
  readonly sinceLogId: number
  #eventsReplayed = 0
  #lastLogId: number
  #scannedTo: number
  #isCutShort = false

  constructor(sinceLogId: number) {
    this.sinceLogId = sinceLogId
    this.#lastLogId = sinceLogId
    this.#scannedTo = sinceLogId
  }

  get counted(): Omit<Resynced, 'subscriptionId'> {
    const counted = { eventsReplayed: this.#eventsReplayed, lastLogId: this.#lastLogId }
    return this.#isCutShort ? { ...counted, countedTo: this.#scannedTo } : counted
  }

  get mayHaveEvents(): boolean {
    return this.#eventsReplayed > 0 || this.#isCutShort
  }

  async scan(db: Reader, subscription: WakeSubscription, until: number): Promise<void> {
    // A target without a channel keeps its cursor until there is one: nothing is sent again now.
    if (!isDeliverable(subscription.harnessTarget)) return
    for await (const page of scanPending(db, subscription, this.#scannedTo, { until })) {
      this.#count(page)
      this.#isCutShort = page.more
    }
  }

  /** Counts what was appended since. */
  async scanRest(tx: Transaction, subscription: WakeSubscription): Promise<void> {
    if (!isDeliverable(subscription.harnessTarget)) return
    for (let more = !this.#isCutShort; more; ) {
      const page = await readPending(tx, subscription, this.#scannedTo)
      this.#count(page)
      more = page.more
    }
  }

  #count({ events, scannedTo }: PendingPage): void {
    this.#eventsReplayed += events.length
    this.#lastLogId = events.at(-1)?.logId ?? this.#lastLogId
    this.#scannedTo = scannedTo
  }
}
