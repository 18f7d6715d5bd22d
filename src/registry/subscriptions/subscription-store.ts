import type { Trigger } from '../../log/event.ts'
import { Collision, type Reader, type Transaction } from '../../storage/database.ts'
import { limited, lockingStatement, p, sql, statement } from '../../storage/statement.ts'
import type {
  Filters,
  HarnessTarget,
  PushTarget,
  Subscription,
  SubscriptionStatus,
  WakeTarget,
} from './subscription.ts'

export interface SubscriptionRow {
  id: string
  kind: string
  projectId: string
  agentId: string
  audience: string
  trigger: string | null
  filters: string
  harnessTarget: string
  target: string
  coalesceMs: number
  signingKey: string | null
  previousKey: string | null
  previousKeyUntil: number | null
  status: string
  reason: string | null
  failedInARow: number
  cursorLogId: number
  lastEmittedLogId: number | null
  claimedToLogId: number | null
  generation: number
  generationAt: number
  resumeWithDigest: number
  windowUntil: number
  dueAt: number | null
  leaseOwner: string | null
  sessionId: string | null
  keyId: string | null
  managedBy: string | null
  createdAt: number
  updatedAt: number
}

/** Every column under the name the code uses, for `select` and `returning` alike. */
export const subscriptionColumns =
  sql.raw(`id, kind, project_id as "projectId", agent_id as "agentId", audience, trigger, filters,
  harness_target as "harnessTarget", target, coalesce_ms as "coalesceMs", signing_key as "signingKey", previous_key as "previousKey",
  previous_key_until as "previousKeyUntil", status, reason, failed_in_a_row as "failedInARow", cursor_log_id as "cursorLogId",
  last_emitted_log_id as "lastEmittedLogId", claimed_to_log_id as "claimedToLogId", generation, generation_at as "generationAt",
  resume_with_digest as "resumeWithDigest", window_until as "windowUntil", due_at as "dueAt", lease_owner as "leaseOwner",
  session_id as "sessionId", key_id as "keyId", managed_by as "managedBy", created_at as "createdAt", updated_at as "updatedAt"`)

const insert =
  statement<SubscriptionRow>(sql`insert into subscription (id, kind, project_id, agent_id, audience, trigger, filters,
    harness_target, target, coalesce_ms, signing_key, status, reason, cursor_log_id, session_id, key_id, managed_by, created_at, updated_at)
  values (${p('id')}, ${p('kind')}, ${p('projectId')}, ${p('agentId')}, ${p('audience')}, ${p('trigger')}, ${p('filters')},
    ${p('harnessTarget')}, ${p('target')}, ${p('coalesceMs')}, ${p('signingKey')}, ${p('status')}, ${p('reason')}, ${p('cursorLogId')},
    ${p('sessionId')}, ${p('keyId')}, ${p('managedBy')}, ${p('createdAt')}, ${p('updatedAt')})`)

/** What a change may rest on: what else moves on a subscription while it is thought over. */
interface Known {
  knownAt: number
  knownGeneration: number
  knownStatus: string
  knownCursor: number
  knownFailed: number
  knownDueAt: number | null
  knownOwner: string | null
}
const unchanged = sql`updated_at = ${p('knownAt')} and generation = ${p('knownGeneration')} and status = ${p('knownStatus')}
    and cursor_log_id = ${p('knownCursor')} and failed_in_a_row = ${p('knownFailed')} and due_at is not distinct from ${p('knownDueAt')}
    and lease_owner is not distinct from ${p('knownOwner')}`
// A change takes the lease away: whoever is sending finds out when it records, and the next claim sees the new settings.
const change = statement<
  SubscriptionRow & Known
>(sql`update subscription set trigger = ${p('trigger')}, filters = ${p('filters')},
    target = ${p('target')}, harness_target = ${p('harnessTarget')}, coalesce_ms = ${p('coalesceMs')}, signing_key = ${p('signingKey')},
    previous_key = ${p('previousKey')}, previous_key_until = ${p('previousKeyUntil')}, status = ${p('status')}, reason = ${p('reason')},
    failed_in_a_row = ${p('failedInARow')}, cursor_log_id = ${p('cursorLogId')}, last_emitted_log_id = ${p('lastEmittedLogId')},
    generation = ${p('generation')}, generation_at = ${p('generationAt')}, resume_with_digest = ${p('resumeWithDigest')},
    key_id = ${p('keyId')}, managed_by = ${p('managedBy')}, claimed_to_log_id = null, lease_owner = null, due_at = ${p('dueAt')}, updated_at = ${p('updatedAt')}
  where id = ${p('id')} and ${unchanged}`)
const lock = lockingStatement<{ id: string }>('subscription', sql`select id from subscription where id = ${p('id')}`)
const remove = statement<{ id: string }>(sql`delete from subscription where id = ${p('id')}`)
const removeReplays = statement<{ id: string }>(sql`delete from replay where subscription_id = ${p('id')}`)
const removeHeld = statement<{ id: string }>(sql`delete from held_wake where subscription_id = ${p('id')}`)
const removeDeliveries = statement<{ id: string }>(sql`delete from delivery where subscription_id = ${p('id')}`)
const byId = statement<{ id: string }, SubscriptionRow>(
  sql`select ${subscriptionColumns} from subscription where id = ${p('id')}`,
)
const byAgent = statement<{ agentId: string }, SubscriptionRow>(
  sql`select ${subscriptionColumns} from subscription where agent_id = ${p('agentId')} and kind = 'wake' order by created_at, id`,
)
/** Behind a subscription, in the order in which they were made. */
export interface SubscriptionPage {
  readonly createdAt: number
  readonly id: string
  readonly limit: number
}
const behind = sql`kind = 'wake' and (created_at, id) > (${p('createdAt')}, ${p('id')}) order by created_at, id ${limited}`
const pageOfAgent = statement<SubscriptionPage & { agentId: string }, SubscriptionRow>(
  sql`select ${subscriptionColumns} from subscription where agent_id = ${p('agentId')} and ${behind}`,
)
const pageOfProject = statement<SubscriptionPage & { projectId: string }, SubscriptionRow>(
  sql`select ${subscriptionColumns} from subscription where project_id = ${p('projectId')} and ${behind}`,
)
const pushesOfTask = statement<{ taskId: string; agentId: string }, SubscriptionRow>(
  sql`select ${subscriptionColumns} from subscription where audience = ${p('taskId')} and agent_id = ${p('agentId')} and kind = 'push'
    order by created_at, id`,
)
const wakesOf = statement<{ agentId: string }, { count: number }>(
  sql`select count(*) as "count" from subscription where agent_id = ${p('agentId')} and kind = 'wake'`,
)
// In the words of its index.
const livePushesOf = statement<{ agentId: string }, { count: number }>(
  sql`select count(*) as "count" from subscription where agent_id = ${p('agentId')} and kind = 'push' and status <> 'paused'`,
)
const ownedBy = statement<{ agentId: string }, { id: string }>(
  sql`select id from subscription where agent_id = ${p('agentId')}`,
)

export async function insertSubscription(tx: Transaction, subscription: Subscription): Promise<void> {
  await tx.run(insert, toRow(subscription))
}

/** Keeps everybody else from changing a subscription before the transaction ends: read it behind this, and change it. */
export async function lockSubscription(tx: Transaction, id: string): Promise<void> {
  await tx.get(lock, { id })
}

/** Writes a subscription as it now is, if it still was what was read, and takes away the lease of whoever is sending for it. */
export async function changeSubscription(
  tx: Transaction,
  before: Subscription,
  subscription: Subscription,
): Promise<void> {
  const changed = await tx.run(change, {
    ...toRow(subscription),
    knownAt: before.updatedAt,
    knownGeneration: before.generation,
    knownStatus: before.status,
    knownCursor: before.cursorLogId,
    knownFailed: before.failedInARow,
    knownDueAt: before.dueAt,
    knownOwner: before.leaseOwner,
  })
  if (changed === 0) throw new Collision(`Subscription ${before.id} was changed meanwhile.`)
}

/** Forgets what was to be sent again. */
export async function dropReplays(tx: Transaction, id: string): Promise<void> {
  await tx.run(removeReplays, { id })
}

export async function deleteSubscription(tx: Transaction, id: string): Promise<void> {
  await tx.run(removeReplays, { id })
  await tx.run(removeHeld, { id })
  await tx.run(removeDeliveries, { id })
  if ((await tx.run(remove, { id })) === 0) throw new Collision(`Subscription ${id} was removed meanwhile.`)
}

/** Takes away all that an agent has, push configs too. Answers their ids. */
export async function deleteSubscriptionsOf(tx: Transaction, agentId: string): Promise<string[]> {
  const owned = await tx.all(ownedBy, { agentId })
  for (const { id } of owned) await deleteSubscription(tx, id)
  return owned.map(({ id }) => id)
}

export async function findSubscription(db: Reader, id: string): Promise<Subscription | undefined> {
  const row = await db.get(byId, { id })
  return row && subscriptionFromRow(row)
}

export async function listSubscriptions(db: Reader, agentId: string): Promise<Subscription[]> {
  return (await db.all(byAgent, { agentId })).map(subscriptionFromRow)
}

/** A page of the wake subscriptions of an agent, or of a project. */
export async function pageSubscriptions(
  db: Reader,
  of: { readonly agentId: string } | { readonly projectId: string },
  page: SubscriptionPage,
): Promise<Subscription[]> {
  const rows =
    'agentId' in of ? await db.all(pageOfAgent, { ...page, ...of }) : await db.all(pageOfProject, { ...page, ...of })
  return rows.map(subscriptionFromRow)
}

/** How many wake subscriptions an agent has. */
export async function countSubscriptions(db: Reader, agentId: string): Promise<number> {
  return (await db.get(wakesOf, { agentId }))?.count ?? 0
}

/** How many push configs an agent has on tasks that are not finished. */
export async function countLivePushes(db: Reader, agentId: string): Promise<number> {
  return (await db.get(livePushesOf, { agentId }))?.count ?? 0
}

/** The push configs that one caller has on a task. */
export async function listPushSubscriptions(db: Reader, taskId: string, callerId: string): Promise<Subscription[]> {
  return (await db.all(pushesOfTask, { taskId, agentId: callerId })).map(subscriptionFromRow)
}

export function subscriptionFromRow(row: SubscriptionRow): Subscription {
  return {
    ...row,
    kind: row.kind as Subscription['kind'],
    trigger: row.trigger as Trigger | null,
    filters: JSON.parse(row.filters) as Filters,
    harnessTarget: row.harnessTarget as HarnessTarget,
    target: JSON.parse(row.target) as WakeTarget | PushTarget,
    status: row.status as SubscriptionStatus,
    resumeWithDigest: row.resumeWithDigest === 1,
  }
}

function toRow(subscription: Subscription): SubscriptionRow {
  return {
    ...subscription,
    filters: JSON.stringify(subscription.filters),
    target: JSON.stringify(subscription.target),
    resumeWithDigest: subscription.resumeWithDigest ? 1 : 0,
  }
}
