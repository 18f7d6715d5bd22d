import type { Reader, Transaction } from '../storage/database.ts'
import { p, sql, statement } from '../storage/statement.ts'

/** A subscription that was paused, and whose log tells of it. */
export interface PausedSubscription {
  readonly id: string
  readonly projectId: string
  readonly agentId: string
}

/** A push config that hung on a key. */
export interface KeyedPush {
  readonly id: string
  readonly projectId: string
  readonly taskId: string
  readonly target: string
}

const paused = sql`status = 'paused', reason = ${p('reason')}, due_at = null, lease_owner = null, claimed_to_log_id = null,
  updated_at = ${p('now')}`
const told = sql.raw('returning id, project_id as "projectId", agent_id as "agentId"')
const pauseOfKey = statement<{ keyId: string; reason: string; now: number }, PausedSubscription>(sql`update subscription
  set ${paused} where key_id = ${p('keyId')} and kind = 'wake' and (status <> 'paused' or reason <> ${p('reason')}) ${told}`)
const pauseManaged = statement<
  { ownerId: string; managerId: string; reason: string; now: number },
  PausedSubscription
>(sql`update subscription set ${paused}
  where managed_by = ${p('managerId')} and agent_id = ${p('ownerId')} and kind = 'wake' ${told}`)
const managed = statement<{ managerId: string }, { ownerId: string }>(
  sql`select distinct agent_id as "ownerId" from subscription where managed_by = ${p('managerId')} order by 1`,
)
const pushesOfKey = statement<{ keyId: string }, KeyedPush>(
  sql`select id, project_id as "projectId", audience as "taskId", target from subscription
    where key_id = ${p('keyId')} and kind = 'push' order by id`,
)
const moveSubscriptions = statement<{ from: string; to: string; now: number }>(
  sql`update subscription set key_id = ${p('to')}, updated_at = ${p('now')} where key_id = ${p('from')}`,
)
const moveSessions = statement<{ from: string; to: string }>(
  sql`update session set key_id = ${p('to')} where key_id = ${p('from')} and ended_at is null`,
)

/** Pauses the wake subscriptions that hang on a key, degraded ones too, and takes away the leases. */
export function pauseSubscriptionsOfKey(tx: Transaction, keyId: string, reason: string): Promise<PausedSubscription[]> {
  return tx.all(pauseOfKey, { keyId, reason, now: tx.now })
}

/** Pauses the subscriptions of one agent that another one pointed somewhere. */
export function pauseSubscriptionsManagedBy(
  tx: Transaction,
  managerId: string,
  ownerId: string,
  reason: string,
): Promise<PausedSubscription[]> {
  return tx.all(pauseManaged, { managerId, ownerId, reason, now: tx.now })
}

/** The agents whose subscriptions another one pointed somewhere. */
export async function listManagedOwners(db: Reader, managerId: string): Promise<string[]> {
  return (await db.all(managed, { managerId })).map(({ ownerId }) => ownerId)
}

export function listPushesOfKey(db: Reader, keyId: string): Promise<KeyedPush[]> {
  return db.all(pushesOfKey, { keyId })
}

/** Hangs what hung on one key on another one. */
export async function moveToKey(tx: Transaction, from: string, to: string): Promise<void> {
  await tx.run(moveSubscriptions, { from, to, now: tx.now })
  await tx.run(moveSessions, { from, to })
}
