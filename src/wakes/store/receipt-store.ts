import type { WakeTarget } from '../../registry/subscriptions/subscription.ts'
import type { Reader, Transaction } from '../../storage/database.ts'
import { ListStatement } from '../../storage/list.ts'
import { p, sql, statement } from '../../storage/statement.ts'
import type { Attempt } from '../channel.ts'
import type { DeliveryAfter } from '../rules/after-receipt.ts'
import { messagesMax, noHistory, type WakeHistory } from '../rules/wake-history.ts'
import type { Delivery } from './delivery-store.ts'
import type { UnfinishedEmission } from './unfinished-store.ts'

/** A delivery that a reader reports about, with its subscription. */
export interface ReportedDelivery
  extends Pick<Delivery, 'eventId' | 'outcome' | 'step' | 'attempts' | 'nextAttemptAt' | 'updatedAt'> {
  readonly subscriptionId: string
  readonly agentId: string
  /** The id of the agent whose events it is about. */
  readonly audience: string
  readonly history: WakeHistory
  readonly projectId: string
  readonly retryForSeconds: number | undefined
  /** True: it is still kept to be sent again. False: it is decided, or a replay. */
  readonly isKept: boolean
}

interface Row extends Omit<ReportedDelivery, 'attempts' | 'retryForSeconds' | 'history' | 'isKept'> {
  attempts: string
  history: string | null
  /** As it was kept; null: it is decided, or a replay. */
  emission: string | null
  target: string
}

const columns = sql.raw(`d.subscription_id as "subscriptionId", d.event_id as "eventId", d.outcome, d.step, d.attempts,
  d.next_attempt_at as "nextAttemptAt", d.updated_at as "updatedAt", d.history, d.emission, s.agent_id as "agentId", s.audience, s.project_id as "projectId", s.target`)
const byEvents = new ListStatement<object, Row>(
  (ids) =>
    sql`select ${columns} from delivery d join subscription s on s.id = d.subscription_id where d.event_id /*postgres || '' */ in (${ids})`,
)
const save = statement<{
  subscriptionId: string
  eventId: string
  outcome: string
  step: string | null
  attempts: string
  history: string
  nextAttemptAt: number | null
  now: number
}>(sql`update delivery set outcome = ${p('outcome')}, step = ${p('step')}, attempts = ${p('attempts')},
    history = ${p('history')}, next_attempt_at = ${p('nextAttemptAt')}, updated_at = ${p('now')}
  where subscription_id = ${p('subscriptionId')} and event_id = ${p('eventId')}`)

/** Returns the wakes of these event ids that are on record, by id. Does not check whether the caller may read them. */
export async function findReported(
  db: Reader,
  eventIds: readonly string[],
): Promise<ReadonlyMap<string, ReportedDelivery>> {
  const rows = await byEvents.all(db, {}, eventIds)
  return new Map(rows.map((row) => [row.eventId, reportedOf(row)]))
}

function reportedOf({ target, attempts, history, emission, ...rest }: Row): ReportedDelivery {
  const { retryForSeconds } = JSON.parse(target) as WakeTarget
  return {
    ...rest,
    attempts: JSON.parse(attempts) as Attempt[],
    history: history === null ? historyOf(emission) : (JSON.parse(history) as WakeHistory),
    retryForSeconds,
    isKept: emission !== null,
  }
}

/** The history of a wake of which nothing was reported yet. */
function historyOf(emission: string | null): WakeHistory {
  if (emission === null) return noHistory
  const { messageIds } = (JSON.parse(emission) as UnfinishedEmission).emission
  return { ...noHistory, messageIds: messageIds.slice(-messagesMax) }
}

/** Saves what a receipt has changed. What the run of the subscription does next, it reads from here. */
export async function saveReceipt(
  tx: Transaction,
  { subscriptionId, eventId }: Pick<ReportedDelivery, 'subscriptionId' | 'eventId'>,
  { outcome, step, attempts, nextAttemptAt }: DeliveryAfter,
  history: WakeHistory,
): Promise<void> {
  const row = { subscriptionId, eventId, outcome, step, nextAttemptAt, history: JSON.stringify(history) }
  await tx.run(save, { ...row, attempts: JSON.stringify(attempts), now: tx.now })
}
