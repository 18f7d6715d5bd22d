import { beginSlice, beginSliceBefore } from '../../lib/pauses.ts'
import type { Subscription, WakeSubscription } from '../../registry/subscriptions/subscription.ts'
import type { Reader } from '../../storage/database.ts'
import { type Pending, readPending } from './pending.ts'

/** Whether what a subscription selects, and from where, has not changed between two reads of it. */
export function selectsAlike(one: WakeSubscription, other: WakeSubscription): boolean {
  return one.generation === other.generation && one.harnessTarget === other.harnessTarget
}

interface Scan {
  /** inclusive; the end of the log without it */
  readonly upTo?: number
  /** An instant of `performance.now()`: no page after the first begins later. The last one that was read then has `more`. */
  readonly until?: number
}

/**
 * Reads the pages of what a subscription has to send after a logId, which may be the whole log. Others' requests go on between two
 * pages, so it must not run in a transaction: their writes would wait.
 */
export async function* scanPending(
  db: Reader,
  subscription: Subscription,
  after: number,
  { upTo, until }: Scan = {},
): AsyncGenerator<Pending> {
  for (let from = after; ; ) {
    const page = await readPending(db, subscription, from, upTo)
    yield page
    if (!page.more) return
    from = page.scannedTo
    if (until === undefined) await beginSlice(subscription.agentId)
    else if (!(await beginSliceBefore(until, subscription.agentId))) return
  }
}
