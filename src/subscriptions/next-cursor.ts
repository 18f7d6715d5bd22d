import { lockLog } from '../log/event-store.ts'
import { isIdle, type WakeSubscription } from '../registry/subscriptions/subscription.ts'
import { type HarnessTarget, isDeliverable } from '../registry/subscriptions/targets.ts'
import type { Transaction } from '../storage/database.ts'
import { readPending } from '../wakes/read/pending.ts'

/**
 * Returns where a subscription's cursor stands after a change. `startsAtHead`: nothing from before is sent. `reselects`: it has
 * another trigger or other filters.
 */
export async function cursorAfter(
  tx: Transaction,
  before: WakeSubscription,
  { startsAtHead, reselects }: { readonly startsAtHead: boolean; readonly reselects: boolean },
): Promise<number> {
  if (startsAtHead) return lockLog(tx, before.projectId)
  return reselects ? passedBefore(tx, before) : before.cursorLogId
}

/**
 * How far a subscription has come with its old filters: to the first event that waits to be sent. The new filters select from
 * there; what the old ones let pass does not come back.
 */
async function passedBefore(tx: Transaction, before: WakeSubscription): Promise<number> {
  const head = await lockLog(tx, before.projectId)
  if (isIdle(before)) return head
  let after = before.cursorLogId
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
