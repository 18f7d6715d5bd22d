import {
  notConnected,
  type StatusBefore,
  type SubscriptionStatus,
  statusesBefore,
  taskFinished,
} from '../../registry/subscriptions/status.ts'
import type { Subscription, WakeSubscription } from '../../registry/subscriptions/subscription.ts'
import { subscriptions } from '../../registry/subscriptions/subscription-row.ts'
import type { Transaction } from '../../storage/database.ts'
import { p, type SQL, sql, statement } from '../../storage/statement.ts'
import { isDeliverable, liveStatus } from '../../words/targets.ts'
import type { LeaseKey } from './lease.ts'
import { endsLease } from './lease-columns.ts'
import { endRetries } from './unfinished-store.ts'

/**
 * The condition that a subscription may become `to`: from every status that the table of transitions allows, or only from these
 * of them. Every statement that writes a status has it.
 */
export const canBecome = <To extends SubscriptionStatus>(
  to: To,
  from: readonly StatusBefore<To>[] = statusesBefore(to),
): SQL => sql.raw(from.length === 1 ? `status = '${from[0]}'` : `status in ('${from.join("', '")}')`)

/** A subscription that is not active is not due and not leased. */
export const stopsAs = (status: Exclude<SubscriptionStatus, 'active'>): SQL =>
  sql`status = ${sql.raw(`'${status}'`)}, reason = ${p('reason')}, due_at = null, ${endsLease},
    updated_at = ${p('now')}`

/** A wake subscription that was paused. */
type PausedSubscription = Pick<Subscription, 'id' | 'projectId' | 'agentId'>
const pausedColumns = subscriptions.select('', 'id', 'projectId', 'agentId')

const degrade = statement<{
  id: string
  owner: string
  reason: string
  probeAt: number | null
  now: number
}>(sql`update subscription
  set ${stopsAs('degraded')}, resume_with_digest = 0, probe_at = ${p('probeAt')}
  where id = ${p('id')} and lease_owner = ${p('owner')} and ${canBecome('degraded')}`)
const finish = statement<{ id: string; reason: string; now: number }>(sql`update subscription
  set ${stopsAs('paused')} where id = ${p('id')} and ${canBecome('paused', ['active'])} and due_at is null`)
const pauseOfSession = statement<{ sessionId: string; reason: string; now: number }, { id: string }>(
  sql`update subscription set ${stopsAs('paused')} where session_id = ${p('sessionId')} and ${canBecome('paused', ['active', 'waiting'])} returning id`,
)
// A subscription that is paused already gets the new reason.
const pauseOfKey = statement<{ keyId: string; reason: string; now: number }, PausedSubscription>(sql`update subscription
  set ${stopsAs('paused')} where key_id = ${p('keyId')} and kind = 'wake'
    and (${canBecome('paused')} or status = 'paused' and reason <> ${p('reason')}) returning ${pausedColumns}`)
const pausePushes = statement<{ keyId: string; reason: string; now: number }, { id: string }>(sql`update subscription
  set ${stopsAs('paused')} where key_id = ${p('keyId')} and kind = 'push' and ${canBecome('paused')} returning id`)
const pauseManaged = statement<
  { ownerId: string; managerId: string; reason: string; now: number },
  PausedSubscription
>(sql`update subscription set ${stopsAs('paused')}
  where managed_by = ${p('managerId')} and agent_id = ${p('ownerId')} and kind = 'wake'
    and (${canBecome('paused')} or status = 'paused') returning ${pausedColumns}`)
/** The fields that decide if a subscription that is made active has a channel. */
type Resumable = Pick<WakeSubscription, 'id' | 'harnessTarget' | 'streamId'>
const resumable = subscriptions.select('', 'id', 'harnessTarget', 'streamId')
const pausedOfSession = statement<{ sessionId: string; reason: string }, Resumable>(
  sql`select ${resumable} from subscription
    where session_id = ${p('sessionId')} and ${canBecome('active', ['paused'])} and reason = ${p('reason')} order by id`,
)
interface Resumed {
  id: string
  status: 'active' | 'waiting'
  /** Why it waits; null: it does not. */
  whyNot: string | null
  dueAt: number | null
  now: number
}
// One digest of everything after the last event that arrived.
export const resumes = sql`status = ${p('status')}, reason = ${p('whyNot')}, failed_in_a_row = 0, cursor_log_id = coalesce(failing_cursor_log_id, cursor_log_id),
    last_emitted_log_id = case when failing_cursor_log_id is null then last_emitted_log_id else failing_emitted_log_id end,
    failing_cursor_log_id = null, failing_emitted_log_id = null, resume_with_digest = 1, generation = generation + 1,
    generation_at = ${p('now')},
    due_at = case when parked_until > cast(${p('dueAt')} as bigint) then parked_until else cast(${p('dueAt')} as bigint) end, updated_at = ${p('now')}`
const resume = statement<Resumed & { reason: string }>(sql`update subscription
  set ${resumes} where id = ${p('id')} and ${canBecome('active', ['paused'])} and reason = ${p('reason')}`)
const degradedOf = statement<{ agentId: string }, Resumable & { reason: string }>(
  sql`select ${resumable}, reason from subscription
    where agent_id = ${p('agentId')} and kind = 'wake' and status = 'degraded' and managed_by is null order by id`,
)
const revive = statement<Resumed>(sql`update subscription
  set ${resumes} where id = ${p('id')} and ${canBecome('active', ['degraded'])}`)

/**
 * Ends a lease and degrades its subscription: nothing more is sent until it is made active. A receiver that is not gone for good is tried
 * from now on. Returns false when the lease was lost.
 */
export async function degradeSubscription(tx: Transaction, lease: LeaseKey, reason: string): Promise<boolean> {
  const probeAt = reason === 'gone' ? null : tx.now
  return (await tx.run(degrade, { id: lease.subscriptionId, owner: lease.owner, reason, probeAt, now: tx.now })) > 0
}

/** Pauses a push subscription whose task is finished, unless there is more to send. */
export async function finishPush(tx: Transaction, { id }: Pick<Subscription, 'id'>): Promise<void> {
  await tx.run(finish, { id, reason: taskFinished, now: tx.now })
}

/** Stops the push configs that were made with a key. Returns the ids of those that could send. */
export async function pausePushesOfKey(tx: Transaction, keyId: string, reason: string): Promise<string[]> {
  return (await tx.all(pausePushes, { keyId, reason, now: tx.now })).map(({ id }) => id)
}

/** Pauses the active subscriptions that a session opened, and ends their leases. Returns their ids. */
export async function pauseSubscriptionsOfSession(
  tx: Transaction,
  sessionId: string,
  reason: string,
): Promise<string[]> {
  return (await tx.all(pauseOfSession, { sessionId, reason, now: tx.now })).map(({ id }) => id)
}

/** Resumes the subscriptions that were paused with a session for this reason, with one digest of later events. Returns the ids. */
export async function resumeSubscriptionsOfSession(
  tx: Transaction,
  sessionId: string,
  reason: string,
): Promise<string[]> {
  const resumed: string[] = []
  for (const subscription of await tx.all(pausedOfSession, { sessionId, reason })) {
    if ((await tx.run(resume, { ...resumedAs(subscription, tx.now), reason })) === 0) continue
    await endRetries(tx, subscription.id)
    resumed.push(subscription.id)
  }
  return resumed
}

/** A degraded subscription that was made active. */
interface RevivedSubscription {
  readonly id: string
  /** Why it was degraded. */
  readonly reason: string
}

/**
 * Makes the degraded subscriptions of an agent active, each with one digest of the missed events. Subscriptions whose target another agent
 * has set do not change. Source: D30, D31.
 */
export async function reviveSubscriptionsOf(tx: Transaction, agentId: string): Promise<RevivedSubscription[]> {
  const revived: RevivedSubscription[] = []
  for (const { reason, ...subscription } of await tx.all(degradedOf, { agentId })) {
    if ((await tx.run(revive, resumedAs(subscription, tx.now))) === 0) continue
    await endRetries(tx, subscription.id)
    revived.push({ id: subscription.id, reason })
  }
  return revived
}

function resumedAs({ id, harnessTarget, streamId }: Resumable, now: number): Resumed {
  const status = liveStatus(harnessTarget, streamId)
  const isSentFor = status === 'active' && isDeliverable(harnessTarget)
  return { id, status, whyNot: status === 'waiting' ? notConnected : null, dueAt: isSentFor ? now : null, now }
}

/** Pauses the wake subscriptions of a key, degraded ones too, and ends their leases. */
export function pauseSubscriptionsOfKey(tx: Transaction, keyId: string, reason: string): Promise<PausedSubscription[]> {
  return tx.all(pauseOfKey, { keyId, reason, now: tx.now })
}

/** Pauses the subscriptions of one agent that another agent pointed somewhere, and ends their leases. */
export function pauseSubscriptionsManagedBy(
  tx: Transaction,
  managerId: string,
  ownerId: string,
  reason: string,
): Promise<PausedSubscription[]> {
  return tx.all(pauseManaged, { managerId, ownerId, reason, now: tx.now })
}
