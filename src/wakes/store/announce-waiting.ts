import { spawns } from '../../registry/subscriptions/stream-capabilities.ts'
import { listSubscriptions } from '../../registry/subscriptions/subscription-store.ts'
import type { Transaction } from '../../storage/database.ts'
import { p, sql, statement } from '../../storage/statement.ts'
import { announcers } from '../rules/announcers.ts'
import { isCalled } from './arrivals.ts'
import { endsLease } from './lease-columns.ts'
import { releaseWithDigest } from './released-store.ts'
import { endRetries } from './unfinished-store.ts'

/** `dueAt`, or when its agent is parked no more. */
const notParked = sql`case when parked_until > ${p('dueAt')} then parked_until else cast(${p('dueAt')} as bigint) end`
// A run that is under way ends: its next one sends the digest.
const announceActive = statement<{ id: string; dueAt: number; now: number }>(sql`update subscription
  set announces_waiting = 1, generation = generation + 1, generation_at = ${p('now')}, due_at = ${notParked},
    ${endsLease}, updated_at = ${p('now')}
  where id = ${p('id')} and status = 'active'`)
const announceLater = statement<{ id: string; now: number }>(
  sql`update subscription set announces_waiting = 1, updated_at = ${p('now')} where id = ${p('id')} and status = 'waiting'`,
)

const announceNone = statement<{ id: string }>(
  sql`update subscription set announces_waiting = 0 where id = ${p('id')} and announces_waiting = 1`,
)

/**
 * Has a subscription send one digest of what waits for its agent, and of what presence held for it: at `dueAt` (ms since the epoch), or when its channel connects.
 * Source: D29.
 */
export async function announceWaiting(tx: Transaction, id: string, dueAt: number): Promise<void> {
  await releaseWithDigest(tx, id)
  if ((await tx.run(announceActive, { id, dueAt, now: tx.now })) > 0) await endRetries(tx, id)
  else await tx.run(announceLater, { id, now: tx.now })
}

/** Ends what `announceWaiting` has requested. */
export async function announceNothing(tx: Transaction, id: string): Promise<void> {
  await tx.run(announceNone, { id })
}

/**
 * The same for an agent whose session has started: once for each target. Not to a reader that starts a process for each wake, and not to
 * webhooks if a wake has begun the session: the digest would begin the next one. Returns the ids of the subscriptions.
 */
export async function announceWaitingTo(
  tx: Transaction,
  agentId: string,
  { isBegunByWake }: { readonly isBegunByWake: boolean },
): Promise<string[]> {
  const all = await listSubscriptions(tx, agentId)
  const inSessions = all.filter(
    (subscription) => !spawns(subscription) && !(isBegunByWake && isCalled(subscription.harnessTarget)),
  )
  const ids = announcers(inSessions).map(({ id }) => id)
  for (const id of ids) await announceWaiting(tx, id, tx.now)
  return ids
}
