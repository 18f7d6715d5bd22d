import { Problem } from '../errors.ts'
import { inputLimits } from '../limits.ts'
import type { Caller } from '../registry/callers/caller.ts'
import { limitExceeded, limitFor } from '../registry/shares/caller-limits.ts'
import type { Filters, WakeSubscription } from '../registry/subscriptions/subscription.ts'
import { subscriptionBytesOf } from '../registry/subscriptions/subscription-store.ts'
import { agentNumbers } from '../share-limits.ts'
import type { Reader } from '../storage/database.ts'

/** Every event of an agent is compared with the filters of all of its subscriptions, so their size is bounded. Errors: `payload-too-large`. */
export function requireFilterSize(filters: Filters): void {
  const { max } = inputLimits.filterBytes
  const bytes = Buffer.byteLength(JSON.stringify(filters))
  if (bytes <= max) return
  throw new Problem('payload-too-large', {
    field: 'filters',
    detail: `filters: the filters have ${bytes} bytes as JSON, and at most ${max} are allowed. List fewer entries, or divide them among several subscriptions.`,
    extra: { limit: 'filterBytes', max },
  })
}

type Sized = Pick<WakeSubscription, 'agentId' | 'filters' | 'target'>

/**
 * One event may read the filters and targets of all subscriptions of an agent, so their size together is bounded. A change that makes
 * nothing larger is never refused. Errors: `limit-exceeded`.
 * @param before the subscription that changes; undefined: a new one
 */
export async function requireSubscriptionRoom(db: Reader, caller: Caller, after: Sized, before?: Sized): Promise<void> {
  const max = limitFor(caller, 'subscriptionBytes')
  const more = bytesOf(after) - (before ? bytesOf(before) : 0)
  if (caller.kind === 'operator' || max === 0 || more <= 0) return
  const bytes = (await subscriptionBytesOf(db, after.agentId)) + more
  if (bytes <= max) return
  throw limitExceeded(
    'subscriptionBytes',
    max,
    `The subscriptions of ${caller.identity} would have ${bytes} of ${max} bytes (${agentNumbers.subscriptionBytes.what}). Shorten filters, or remove subscriptions that are not in use.`,
  )
}

function bytesOf({ filters, target }: Sized): number {
  return Buffer.byteLength(JSON.stringify(filters)) + Buffer.byteLength(JSON.stringify(target))
}
