import type { Reader, Transaction } from '../../storage/database.ts'
import { limited, p, sql, statement } from '../../storage/statement.ts'
import type { Attempt } from '../channel.ts'
import type { Emission } from '../content/emission.ts'

/** An emission whose outcome is open, or was decided while no run waited for it. */
export interface UnfinishedEmission {
  readonly emission: Emission
  /** Where the cursor is after it. */
  readonly cursorLogId: number
}

/** As many as a subscription may have in flight. */
const unfinishedMax = 64

const keep = statement<{
  subscriptionId: string
  eventId: string
  eventType: string
  fromLogId: number
  logId: number
  eventCount: number
  attempts: string
  emission: string
  now: number
}>(sql`insert into delivery (subscription_id, event_id, event_type, from_log_id, to_log_id, event_count, attempts, outcome, emission,
    created_at, updated_at)
  values (${p('subscriptionId')}, ${p('eventId')}, ${p('eventType')}, ${p('fromLogId')}, ${p('logId')}, ${p('eventCount')},
    ${p('attempts')}, 'pending', ${p('emission')}, ${p('now')}, ${p('now')})
  on conflict (subscription_id, event_id) do update set emission = excluded.emission, next_attempt_at = null,
    attempts = case when delivery.outcome = 'pending' then excluded.attempts else delivery.attempts end, updated_at = excluded.updated_at`)
const unfinished = statement<{ subscriptionId: string; limit: number }, { emission: string }>(
  sql`select emission from delivery where subscription_id = ${p('subscriptionId')} and emission is not null
    order by event_id ${limited}`,
)
const drop = statement<{ subscriptionId: string; now: number }>(
  sql`update delivery set emission = null, outcome = case when outcome = 'pending' then 'failed' else outcome end,
    next_attempt_at = null, updated_at = ${p('now')}
    where subscription_id = ${p('subscriptionId')} and emission is not null`,
)

// Replays go before everything else, and the emission of one has the id of its request, which stays the same.
const endRetrying = statement<{ subscriptionId: string; now: number }>(
  sql`update delivery set outcome = 'failed', next_attempt_at = null, updated_at = ${p('now')}
    where subscription_id = ${p('subscriptionId')} and next_attempt_at is not null and outcome = 'pending' and emission is null
      and not exists (select 1 from replay where subscription_id = ${p('subscriptionId')})`,
)

/**
 * Keeps an emission as it is, with its attempts, until its outcome is recorded. So it is sent again under the same `eventId` and with
 * the same body, whatever happens to its stream or to the gateway. Call it while the subscription's lease is held.
 */
export async function keepEmission(
  tx: Transaction,
  subscriptionId: string,
  { emission, cursorLogId }: UnfinishedEmission,
  attempts: readonly Attempt[],
): Promise<void> {
  const { event: _, ...kept } = emission
  const { eventId, eventType, fromLogId, logId, eventCount } = kept
  await tx.run(keep, {
    subscriptionId,
    eventId,
    eventType,
    fromLogId,
    logId,
    eventCount,
    attempts: JSON.stringify(attempts),
    emission: JSON.stringify({ emission: kept, cursorLogId }),
    now: tx.now,
  })
}

/** Returns the emissions of a subscription that were kept, in the order in which they were sent: that of the log, whatever the clock did. */
export async function readUnfinished(db: Reader, subscriptionId: string): Promise<UnfinishedEmission[]> {
  const rows = await db.all(unfinished, { subscriptionId, limit: unfinishedMax })
  const kept = rows.map(({ emission }) => JSON.parse(emission) as UnfinishedEmission)
  return kept.sort((a, b) => a.cursorLogId - b.cursorLogId)
}

/** Drops the kept emissions: the events after the cursor are sent again. A receipt that came stays recorded. */
export async function dropUnfinished(tx: Transaction, subscriptionId: string): Promise<void> {
  await tx.run(drop, { subscriptionId, now: tx.now })
}

/** Ends the records of emissions that were to be tried again, when a new generation begins: their events come in another emission. */
export async function endRetries(tx: Transaction, subscriptionId: string): Promise<void> {
  await tx.run(endRetrying, { subscriptionId, now: tx.now })
}
