import { isoTime } from '../../lib/iso-time.ts'
import type { WakeSubscription } from '../../registry/subscriptions/subscription.ts'
import type { Reader } from '../../storage/database.ts'
import { ListStatement } from '../../storage/list.ts'
import { p, sql, statement } from '../../storage/statement.ts'
import { type Attempt, attemptFor } from '../channel.ts'
import { nextProbeShown } from '../rules/probe-schedule.ts'

const errorMax = 300

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

const lastFailed = statement<{ id: string }, { attempts: string; updatedAt: number }>(
  sql`select attempts, updated_at as "updatedAt" from delivery where subscription_id = ${p('id')} and outcome = 'failed'
    order by event_id desc limit 1`,
)

/** Returns when the newest event of a subscription that was given up failed (ISO 8601), and why. */
export async function lastFailureOf(db: Reader, id: string): Promise<{ at: string; error: string } | undefined> {
  const found = await db.get(lastFailed, { id })
  const last = (JSON.parse(found?.attempts ?? '[]') as Attempt[]).at(-1)
  return found && { at: isoTime(found.updatedAt), error: last ? errorOf(last) : 'failed' }
}

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
    const nextTryAt = isoTime(nextProbeShown(probeAt, { updatedAt }))
    found.set(id, { since: isoTime(updatedAt), nextTryAt, error: reason ?? 'degraded' })
  }
  return found
}

function retryingOf(attempts: readonly Attempt[], nextAttemptAt: number): Retrying | undefined {
  const [first, last] = [attempts[0], attempts.at(-1)]
  if (!first || !last) return undefined
  return {
    since: first.at,
    nextTryAt: isoTime(nextAttemptAt),
    tries: attempts.length,
    error: errorOf(last),
  }
}

/** A reader of a stream reports in a line what has failed, and for whom. */
function errorOf(attempt: Attempt): string {
  const { error, status, response } = attemptFor({ kind: 'agent', projects: undefined }, attempt)
  return error === 'failed' && response ? `failed: ${response.slice(0, errorMax)}` : (error ?? `http-${status}`)
}
