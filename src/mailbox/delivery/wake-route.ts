import type { WakeSubscription } from '../../registry/subscriptions/subscription.ts'
import { listSubscriptions } from '../../registry/subscriptions/subscription-store.ts'
import { targets } from '../../registry/subscriptions/targets.ts'
import type { Reader } from '../../storage/database.ts'
import { passes } from '../../wakes/rules/match.ts'
import type { MailMessage } from '../messages/message.ts'

/** How long after the end of its coalescing window a wake may take, retries included, before mail takes another route. */
const graceMs = 60_000

/** Returns the active subscriptions of an agent that bring it mail: what was only written may never be read. Source: D14. */
export async function readWakeRoutes(db: Reader, agentId: string): Promise<WakeSubscription[]> {
  const own = await listSubscriptions(db, agentId)
  return own.filter(
    ({ trigger, status, harnessTarget }) =>
      trigger === 'SENT_TO_ME' && status === 'active' && targets[harnessTarget].evidence === 'delivered',
  )
}

/** The fields of mail that decide whether a subscription wakes for it. */
export type RoutedMail = Pick<
  MailMessage,
  'wakePolicy' | 'priority' | 'taggedConcepts' | 'inReplyTo' | 'threadId' | 'createdAt'
> & { readonly from: string | null }

/** Returns until when a wake for a message may be on its way, ms since the epoch; undefined: no subscription takes it. Pure. */
export function wakeDeadline(routes: readonly WakeSubscription[], mail: RoutedMail): number | undefined {
  if (mail.wakePolicy !== 'immediate') return undefined
  const { priority, taggedConcepts, inReplyTo, threadId } = mail
  const subject = {
    priority,
    taggedConcepts,
    isReplyTo: inReplyTo,
    threadId,
    ...(mail.from ? { from: mail.from } : {}),
  }
  const windows = routes.filter(({ filters }) => passes(filters, subject)).map(({ coalesceMs }) => coalesceMs)
  return windows.length === 0 ? undefined : mail.createdAt + Math.min(...windows) + graceMs
}
