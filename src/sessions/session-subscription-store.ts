import { type HarnessTarget, isDeliverable } from '../registry/subscriptions/subscription.ts'
import type { Transaction } from '../storage/database.ts'
import { p, sql, statement } from '../storage/statement.ts'

const pause = statement<{ sessionId: string; reason: string; now: number }, { id: string }>(sql`update subscription
  set status = 'paused', reason = ${p('reason')}, due_at = null, lease_owner = null, claimed_to_log_id = null, updated_at = ${p('now')}
  where session_id = ${p('sessionId')} and status = 'active' returning id`)
const pausedBy = statement<{ sessionId: string; reason: string }, { id: string; harnessTarget: HarnessTarget }>(
  sql`select id, harness_target as "harnessTarget" from subscription
    where session_id = ${p('sessionId')} and status = 'paused' and reason = ${p('reason')} order by id`,
)
const resume = statement<{ id: string; reason: string; dueAt: number | null; now: number }>(sql`update subscription
  set status = 'active', reason = null, failed_in_a_row = 0, resume_with_digest = 1, generation = generation + 1,
    generation_at = ${p('now')}, due_at = ${p('dueAt')}, updated_at = ${p('now')}
  where id = ${p('id')} and status = 'paused' and reason = ${p('reason')}`)

/** Pauses what a session opened and takes away the leases. Answers the ids of the subscriptions that were active. */
export async function pauseSubscriptionsOf(tx: Transaction, sessionId: string, reason: string): Promise<string[]> {
  return (await tx.all(pause, { sessionId, reason, now: tx.now })).map(({ id }) => id)
}

/** Resumes what was paused for that reason and no other, with one digest of what came meanwhile. Answers the ids. */
export async function resumeSubscriptionsOf(tx: Transaction, sessionId: string, reason: string): Promise<string[]> {
  const resumed: string[] = []
  for (const { id, harnessTarget } of await tx.all(pausedBy, { sessionId, reason })) {
    const dueAt = isDeliverable(harnessTarget) ? tx.now : null
    if ((await tx.run(resume, { id, reason, dueAt, now: tx.now })) > 0) resumed.push(id)
  }
  return resumed
}
