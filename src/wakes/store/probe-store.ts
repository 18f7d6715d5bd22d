import type { WakeSubscription } from '../../registry/subscriptions/subscription.ts'
import {
  type SubscriptionRow,
  subscriptionColumns,
  wakeFromRow,
} from '../../registry/subscriptions/subscription-row.ts'
import type { Database, Reader, Transaction } from '../../storage/database.ts'
import { limited, p, sql, statement } from '../../storage/statement.ts'
import { probeWithinMs } from '../rules/probe-schedule.ts'
import { canBecome, resumes } from './subscription-state.ts'

const due = statement<{ now: number; latest: number; limit: number }, SubscriptionRow>(
  sql`select ${subscriptionColumns} from subscription where status = 'degraded' and probe_at is not null
    and (probe_at <= ${p('now')} or probe_at > ${p('latest')}) order by probe_at ${limited}`,
)
const schedule = statement<{ id: string; knownAt: number; probeAt: number | null }>(
  sql`update subscription set probe_at = ${p('probeAt')} where id = ${p('id')} and status = 'degraded' and updated_at = ${p('knownAt')}`,
)
const revive = statement<{
  id: string
  knownAt: number
  status: 'active'
  whyNot: null
  dueAt: number
  now: number
}>(sql`update subscription set ${resumes}, probe_at = null
  where id = ${p('id')} and updated_at = ${p('knownAt')} and ${canBecome('active', ['degraded'])}`)

/** Returns the degraded subscriptions whose receivers are to be tried now. */
export async function findDueProbes(db: Reader, now: number, limit: number): Promise<WakeSubscription[]> {
  return (await db.all(due, { now, latest: now + probeWithinMs, limit })).map(wakeFromRow)
}

/** Writes when a receiver is tried next, or null for never, unless its subscription was changed meanwhile. */
export async function scheduleProbe(
  db: Database,
  { id, updatedAt }: Pick<WakeSubscription, 'id' | 'updatedAt'>,
  probeAt: number | null,
): Promise<void> {
  await db.transaction((tx) => tx.run(schedule, { id, knownAt: updatedAt, probeAt }))
}

/** Makes a degraded subscription active, with one digest of the missed events. Returns false when it was changed meanwhile. */
export async function reviveProbed(
  tx: Transaction,
  { id, updatedAt }: Pick<WakeSubscription, 'id' | 'updatedAt'>,
): Promise<boolean> {
  const { now } = tx
  return (await tx.run(revive, { id, knownAt: updatedAt, status: 'active', whyNot: null, dueAt: now, now })) > 0
}
