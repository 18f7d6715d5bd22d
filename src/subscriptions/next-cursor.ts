import { lockLog } from '../log/event-store.ts'
import { isIdle, type WakeSubscription } from '../registry/subscriptions/subscription.ts'
import type { Reader, Transaction } from '../storage/database.ts'
import { readPending } from '../wakes/read/pending.ts'
import { scanPending } from '../wakes/read/scan-pending.ts'
import { type HarnessTarget, isDeliverable } from '../words/targets.ts'

/**
 * Returns where a subscription's cursor stands after a change. `startsAtHead`: nothing from before is sent. `reselects`: it has
 * another trigger or other filters; then `scannedTo` is what `scanPassed` returned.
 */
export async function cursorAfter(
  tx: Transaction,
  before: WakeSubscription,
  { startsAtHead, reselects }: { readonly startsAtHead: boolean; readonly reselects: boolean },
  scannedTo: number,
): Promise<number> {
  if (startsAtHead) return lockLog(tx, before.projectId)
  return reselects ? passedBefore(tx, before, scannedTo) : before.cursorLogId
}

/**
 * Returns up to where a subscription sends nothing with its filters of now. Called before the transaction of a change: that may be a
 * long part of the log.
 * @param head of the log when the subscription was read
 */
export async function scanPassed(db: Reader, subscription: WakeSubscription, head: number): Promise<number> {
  // It has looked at everything, wherever its cursor stands.
  if (isIdle(subscription)) return head
  let passed = subscription.cursorLogId
  for await (const { events, scannedTo } of scanPending(db, subscription, passed)) {
    if (events[0]) return events[0].logId - 1
    passed = scannedTo
  }
  return passed
}

/**
 * Returns the position before the first event that waits to be sent by the old filters. The new filters select from there: earlier
 * events, which the old ones did not select, are not sent.
 */
async function passedBefore(tx: Transaction, before: WakeSubscription, scannedTo: number): Promise<number> {
  const head = await lockLog(tx, before.projectId)
  if (isIdle(before)) return head
  let after = Math.max(before.cursorLogId, scannedTo)
  for (;;) {
    const page = await readPending(tx, before, after)
    if (page.events[0]) return page.events[0].logId - 1
    if (!page.more) return head
    after = page.scannedTo
  }
}

/**
 * Returns when an active subscription is due after a change: null for an idle one, and for a target that nothing is sent to. The change ends the lease, so that what was being
 * sent is looked at again. A window that is open stays open, or gets shorter.
 */
export function nextDueAt(
  before: WakeSubscription,
  target: HarnessTarget,
  coalesceMs: number,
  now: number,
): number | null {
  if (isIdle(before) || !isDeliverable(target)) return null
  const { status, leaseOwner, dueAt } = before
  const isWindowOpen = status === 'active' && leaseOwner === null && dueAt !== null
  return isWindowOpen ? Math.min(dueAt, now + coalesceMs) : now
}
