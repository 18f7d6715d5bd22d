import { steadyClock } from '../../lib/clock.ts'
import type { Subscription, WakeSubscription } from '../../registry/subscriptions/subscription.ts'
import type { Reader } from '../../storage/database.ts'
import { type PendingPage, readPending } from './pending.ts'

/** True when two reads of a subscription select the same, from the same place. */
export function selectsAlike(one: WakeSubscription, other: WakeSubscription): boolean {
  return one.generation === other.generation && one.harnessTarget === other.harnessTarget
}

interface Scan {
  /** inclusive; the end of the log without it */
  readonly upTo?: number
  /** An instant of `steadyClock`: no page after the first begins later. The last one that was read then has `more`. */
  readonly until?: number
  /** The most events of the first page, where few are wanted. */
  readonly first?: number
}

/**
 * Reads the pages of what a subscription has to send after a logId, which may be the whole log. Others' requests go on between two
 * pages, so it must not run in a transaction: their writes would wait.
 */
export async function* scanPending(
  db: Reader,
  subscription: Subscription,
  after: number,
  { upTo, until, first }: Scan = {},
): AsyncGenerator<PendingPage> {
  let page = await readPending(db, subscription, after, upTo, first)
  yield page
  while (page.more) {
    await new Promise(setImmediate)
    if (until !== undefined && steadyClock.now() >= until) return
    page = await readPending(db, subscription, page.scannedTo, upTo)
    yield page
  }
}
