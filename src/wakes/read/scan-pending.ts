import { beginSliceBefore, inSlice } from '../../lib/pauses.ts'
import type { Subscription, WakeSubscription } from '../../registry/subscriptions/subscription.ts'
import type { Reader } from '../../storage/database.ts'
import { type Pending, readPending } from './pending.ts'

/** How many pages are read in one slice of long work. Others' requests go on between two of them too. */
const pagesOfSlice = 4

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
  const read = (from: number): Promise<Pending> => readPending(db, subscription, from, upTo)
  const { agentId } = subscription
  let last = await read(after)
  yield last
  while (last.more) {
    const from = last.scannedTo
    if (until !== undefined && !(await beginSliceBefore(until, agentId))) return
    const pages = until === undefined ? await inSlice(agentId, () => readPages(read, from)) : [await read(from)]
    yield* pages
    last = pages.at(-1)!
  }
}

/** Reads some pages, until one wakes somebody: what is looked for is often the first of these. */
async function readPages(read: (from: number) => Promise<Pending>, after: number): Promise<Pending[]> {
  const pages: Pending[] = []
  for (let from = after; pages.length < pagesOfSlice; ) {
    const page = await read(from)
    pages.push(page)
    if (!page.more || page.events.length > 0) return pages
    from = page.scannedTo
    await new Promise((resolve) => setImmediate(resolve))
  }
  return pages
}
