import type { Reader } from '../../storage/database.ts'
import { limited, p, sql, statement } from '../../storage/statement.ts'
import { type Delivery, findDelivery } from './delivery-store.ts'

/** Entries of the index that one statement reads: a ms or two. */
const windowSize = 500
/** After so many a page ends, however few it has found; its token goes on from there. */
const windowsMax = 10

/** A delivery in the list of all subscriptions, before its record is read. */
export interface DeliveryEntry extends Pick<Delivery, 'eventId' | 'outcome' | 'nextAttemptAt' | 'updatedAt'> {
  readonly subscriptionId: string
  readonly agentId: string
}

interface Row extends DeliveryEntry {
  readonly projectId: string
  /** null: the subscription was removed, or it is a push config. */
  readonly kind: string | null
}

// The index of event ids is one of an expression on PostgreSQL.
const newest = statement<
  { before: string; limit: number },
  Row
>(sql`select d.subscription_id as "subscriptionId", d.event_id as "eventId",
    d.outcome, d.next_attempt_at as "nextAttemptAt", d.updated_at as "updatedAt", s.agent_id as "agentId", s.project_id as "projectId", s.kind
  from delivery d left join subscription s on s.id = d.subscription_id
  where d.event_id /*postgres || '' */ < ${p('before')} order by d.event_id /*postgres || '' */ desc ${limited}`)

interface DeliveryQuery {
  readonly projectId: string
  /** Which of the entries are wanted. */
  readonly matches: (entry: DeliveryEntry) => boolean
  /** The event id before which the page begins; `''`: at the newest. */
  readonly before: string
  readonly limit: number
}

/**
 * Returns deliveries of all subscriptions of a project, newest first. It reads a bounded number of entries, so a page may have few
 * deliveries, or none, and yet a `next`. `''`: there are no more.
 */
export async function listProjectDeliveries(
  db: Reader,
  { projectId, matches, before, limit }: DeliveryQuery,
): Promise<{ items: { entry: DeliveryEntry; delivery: Delivery }[]; next: string }> {
  const found: DeliveryEntry[] = []
  // 'Z' sorts after every first digit of an event id.
  let next = before || 'Z'
  for (let window = 0; next !== '' && window < windowsMax && found.length < limit; window++) {
    if (window > 0) await new Promise(setImmediate)
    const rows = await db.all(newest, { before: next, limit: windowSize })
    next = rows.length < windowSize ? '' : rows.at(-1)!.eventId
    const wanted = rows.filter((row) => row.projectId === projectId && row.kind === 'wake' && matches(row))
    const taken = wanted.slice(0, limit - found.length)
    if (taken.length < wanted.length) next = taken.at(-1)!.eventId
    found.push(...taken)
  }
  const read = found.map(async (entry) => {
    const delivery = await findDelivery(db, entry.subscriptionId, entry.eventId)
    return delivery ? [{ entry, delivery }] : []
  })
  return { items: (await Promise.all(read)).flat(), next }
}
