import type { LogEvent } from '../../log/event.ts'
import type { WakeSubscription } from '../../registry/subscriptions/subscription.ts'
import type { Reader } from '../../storage/database.ts'
import { matches, messageIdOf } from '../rules/match.ts'
import { listReleased } from '../store/released-store.ts'
import { type FindDelivered, pageMax, withoutDelivered, withoutDuplicates } from './pending.ts'
import type { WaitingWork } from './waiting.ts'

/** How many pages of released events one digest has: what is older than the newest of them is in the inbox. */
const pagesMax = 50

/**
 * Returns the events up to a cursor that were held because of presence and are released now, in log order. Mail that its agent has read
 * meanwhile, or got by another route, is left out.
 */
export async function readReleasedEvents(
  db: Reader,
  subscription: WakeSubscription,
  {
    findDelivered,
    unread,
  }: { readonly findDelivered: FindDelivered | undefined; readonly unread: WaitingWork | undefined },
  upTo: number,
): Promise<readonly LogEvent[]> {
  const found: LogEvent[] = []
  let after = 0
  for (let pages = 0; pages < pagesMax; pages++) {
    const page = await listReleased(db, subscription.id, { after, upTo, limit: pageMax })
    const matching = page.filter((event) => matches(subscription, event) && isUnread(event))
    const single = await withoutDuplicates(db, subscription, matching)
    found.push(...(await withoutDelivered(findDelivered, subscription, single)))
    if (page.length < pageMax) break
    after = page.at(-1)!.logId
    await new Promise(setImmediate)
  }
  return found

  function isUnread(event: LogEvent): boolean {
    const messageId = messageIdOf(event)
    return messageId === undefined || unread === undefined || unread.messageIds.has(messageId)
  }
}
