import type { WakeSubscription } from '../registry/subscriptions/subscription.ts'
import { listSubscriptions } from '../registry/subscriptions/subscription-store.ts'
import { isDeliverable } from '../registry/subscriptions/targets.ts'
import type { Reader } from '../storage/database.ts'
import { passes } from '../wakes/rules/match.ts'
import type { MailMessage } from './message.ts'

/** How long a wake may take beyond its window, its retries included, before mail goes another way. */
const graceMs = 60_000

/** The agent's subscriptions that wake it for mail today. */
export async function readPushRoutes(db: Reader, agentId: string): Promise<WakeSubscription[]> {
  const own = await listSubscriptions(db, agentId)
  return own.filter(
    ({ trigger, status, harnessTarget }) =>
      trigger === 'SENT_TO_ME' && status === 'active' && isDeliverable(harnessTarget),
  )
}

type Routed = Pick<
  MailMessage,
  'wakePolicy' | 'priority' | 'taggedConcepts' | 'inReplyTo' | 'threadId' | 'createdAt'
> & {
  readonly from: string | null
}

/** Until when a wake for a message may be on its way (ms since the epoch); undefined: no subscription takes it. Pure. */
export function pushedBy(routes: readonly WakeSubscription[], mail: Routed): number | undefined {
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
