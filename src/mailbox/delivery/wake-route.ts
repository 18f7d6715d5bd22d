import type { Filters } from '../../registry/subscriptions/subscription.ts'
import type { Reader } from '../../storage/database.ts'
import { p, sql, statement } from '../../storage/statement.ts'
import { passes } from '../../wakes/rules/match.ts'
import { harnessTargets, targets } from '../../words/targets.ts'
import type { MailMessage } from '../messages/message.ts'

/** How long after the end of its coalescing window a wake may take, retries included, before mail takes another route. */
const graceMs = 60_000

/** A way by which wakes bring mail: all subscriptions with the same filters, and the shortest of their windows. */
interface WakeRoute {
  readonly filters: Filters
  readonly coalesceMs: number
}

// A client has chosen events with arguments of its own: what it gets of an agent's mail is not known here.
const delivering = harnessTargets.filter(
  (target) => targets[target].evidence === 'delivered' && !targets[target].isOfClient,
)
const routesOf = statement<{ agentId: string }, { filters: string; coalesceMs: number }>(
  sql`select filters, min(coalesce_ms) as "coalesceMs" from subscription where agent_id = ${p('agentId')} and kind = 'wake'
    and trigger = 'SENT_TO_ME' and status = 'active' and failed_in_a_row = 0 and harness_target in ${sql.raw(`('${delivering.join("', '")}')`)}
  group by filters`,
)

/**
 * Returns how the active subscriptions of an agent bring it mail: what was only written may never be read, and after a wake that has failed
 * the next call is the better way. Source: D14, S2-21.
 */
export async function readWakeRoutes(db: Reader, agentId: string): Promise<WakeRoute[]> {
  const rows = await db.all(routesOf, { agentId })
  return rows.map(({ filters, coalesceMs }) => ({ filters: JSON.parse(filters) as Filters, coalesceMs }))
}

/** The fields of mail that decide whether a subscription wakes for it. */
export type RoutedMail = Pick<
  MailMessage,
  'wakePolicy' | 'priority' | 'taggedConcepts' | 'inReplyTo' | 'threadId' | 'createdAt'
> & { readonly from: string | null }

/** Returns until when a wake for a message may be on its way, ms since the epoch; undefined: no subscription takes it. Pure. */
export function wakeDeadline(routes: readonly WakeRoute[], mail: RoutedMail): number | undefined {
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
