import { isoTime } from '../../lib/iso-time.ts'
import type { WakeSubscription } from '../../registry/subscriptions/subscription.ts'
import type { Reader } from '../../storage/database.ts'
import { ListStatement } from '../../storage/list.ts'
import { sql } from '../../storage/statement.ts'
import { type Attempt, attemptFor } from '../channel.ts'

/** A receiver that is away, and is tried again. Instants are ISO 8601. */
export interface Retrying {
  readonly since: string
  readonly nextTryAt: string
  /** How often the oldest open event was tried. Absent while the subscription is degraded. */
  readonly tries?: number
  readonly error: string
}

const open = new ListStatement<object, { subscriptionId: string; attempts: string; nextAttemptAt: number }>(
  (ids) => sql`select subscription_id as "subscriptionId", attempts, next_attempt_at as "nextAttemptAt" from delivery
    where next_attempt_at is not null and subscription_id in (${ids})`,
)
const probed = new ListStatement<object, { id: string; probeAt: number }>(
  (ids) =>
    sql`select id, probe_at as "probeAt" from subscription where id in (${ids}) and status = 'degraded' and probe_at is not null`,
)

/** Returns, by id, what is known of the receivers of subscriptions that are away. */
export async function readRetrying(
  db: Reader,
  subscriptions: readonly WakeSubscription[],
): Promise<ReadonlyMap<string, Retrying>> {
  const ids = (status: WakeSubscription['status']) =>
    subscriptions.filter((one) => one.status === status).map(({ id }) => id)
  const [deliveries, probes] = await Promise.all([open.all(db, {}, ids('active')), probed.all(db, {}, ids('degraded'))])
  const found = new Map<string, Retrying>()
  for (const { subscriptionId, attempts, nextAttemptAt } of deliveries) {
    const retrying = retryingOf(JSON.parse(attempts) as Attempt[], nextAttemptAt)
    const known = found.get(subscriptionId)
    if (retrying && (!known || retrying.since < known.since)) found.set(subscriptionId, retrying)
  }
  const byId = new Map(subscriptions.map((one) => [one.id, one]))
  for (const { id, probeAt } of probes) {
    const { updatedAt, reason } = byId.get(id)!
    found.set(id, { since: isoTime(updatedAt), nextTryAt: isoTime(probeAt), error: reason ?? 'degraded' })
  }
  return found
}

function retryingOf(attempts: readonly Attempt[], nextAttemptAt: number): Retrying | undefined {
  const [first, last] = [attempts[0], attempts.at(-1)]
  if (!first || !last) return undefined
  const { error, status } = attemptFor({ kind: 'agent', projects: undefined }, last)
  return {
    since: first.at,
    nextTryAt: isoTime(nextAttemptAt),
    tries: attempts.length,
    error: error ?? `http-${status}`,
  }
}
