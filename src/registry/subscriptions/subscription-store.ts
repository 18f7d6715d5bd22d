import { readBoundedPage } from '../../lib/bounded-page.ts'
import { sizeLimits } from '../../limits.ts'
import { Collision, type Reader, type Transaction } from '../../storage/database.ts'
import { ListStatement, LockingListStatement } from '../../storage/list.ts'
import { lateFilter, limited, lockingStatement, p, sql, statement } from '../../storage/statement.ts'
import type { HarnessTarget } from '../../words/targets.ts'
import { noteEnded, noteRemoved } from './removed-store.ts'
import type { PushSubscription, Subscription, WakeSubscription } from './subscription.ts'
import {
  pushFromRow,
  type SubscriptionRow,
  subscriptionColumns,
  subscriptionFromRow,
  subscriptions,
  toRow,
  wakeFromRow,
} from './subscription-row.ts'

const insert = subscriptions.insert()
// Not `updated_at`: the change of its state that follows writes it.
const change = statement<
  SubscriptionRow & { knownAt: number }
>(sql`update subscription set trigger = ${p('trigger')}, filters = ${p('filters')}, target = ${p('target')},
    harness_target = ${p('harnessTarget')}, coalesce_ms = ${p('coalesceMs')}, signing_key = ${p('signingKey')},
    former_keys = ${p('formerKeys')}, key_id = ${p('keyId')}, managed_by = ${p('managedBy')}
  where id = ${p('id')} and updated_at = ${p('knownAt')}`)
const lock = lockingStatement<{ id: string }>('subscription', sql`select id from subscription where id = ${p('id')}`)
const lockMany = new LockingListStatement<SubscriptionRow>(
  'subscription',
  sql`select ${subscriptionColumns} from subscription`,
)
const amongIds = new ListStatement<object, SubscriptionRow>(
  (ids) => sql`select ${subscriptionColumns} from subscription where id in (${ids})`,
)
const remove = statement<{ id: string }>(sql`delete from subscription where id = ${p('id')}`)
const removeMany = new ListStatement((ids) => sql`delete from subscription where id in (${ids})`)
const byId = statement<{ id: string }, SubscriptionRow>(
  sql`select ${subscriptionColumns} from subscription where id = ${p('id')}`,
)
const byAgent = statement<{ agentId: string }, SubscriptionRow>(
  sql`select ${subscriptionColumns} from subscription where agent_id = ${p('agentId')} and kind = 'wake' order by created_at, id`,
)
// As many as are asked for: an agent may have hundreds of others.
const toTarget = statement<{ agentId: string; harnessTarget: HarnessTarget; limit: number }, SubscriptionRow>(
  sql`select ${subscriptionColumns} from subscription where agent_id = ${p('agentId')} and kind = 'wake'
    and ${lateFilter(sql`harness_target = ${p('harnessTarget')}`)} order by created_at, id ${limited}`,
)
const announcing = statement<{ agentId: string }, SubscriptionRow>(
  sql`select ${subscriptionColumns} from subscription where agent_id = ${p('agentId')} and kind = 'wake'
    and ${lateFilter(sql`announces_waiting = 1`)}`,
)
/** The next `limit` subscriptions after one of them, in the order in which they were made. */
export interface SubscriptionPage {
  readonly createdAt: number
  readonly id: string
  readonly limit: number
}
const after = sql`kind = 'wake' and (created_at, id) > (${p('createdAt')}, ${p('id')}) order by created_at, id ${limited}`
const pageOfAgent = statement<SubscriptionPage & { agentId: string }, SubscriptionRow>(
  sql`select ${subscriptionColumns} from subscription where agent_id = ${p('agentId')} and ${after}`,
)
// Ids begin with their time. By them the key is walked; by the instant all of the project would be sorted for each page.
const pageOfProject = statement<SubscriptionPage & { projectId: string }, SubscriptionRow>(
  sql`select ${subscriptionColumns} from subscription where project_id = ${p('projectId')} and kind = 'wake' and id > ${p('id')}
    order by id ${limited}`,
)
const pushesOfTask = statement<{ taskId: string; agentId: string }, SubscriptionRow>(
  sql`select ${subscriptionColumns} from subscription where audience = ${p('taskId')} and agent_id = ${p('agentId')} and kind = 'push'
    order by created_at, id`,
)
const wakesOf = statement<{ agentId: string }, { count: number }>(
  sql`select count(*) as "count" from subscription where agent_id = ${p('agentId')} and kind = 'wake'`,
)
const livePushesOf = statement<{ agentId: string }, { count: number }>(
  sql`select count(*) as "count" from subscription where agent_id = ${p('agentId')} and kind = 'push' and status <> 'paused'`,
)
const ownedBy = statement<{ agentId: string }, SubscriptionRow>(
  sql`select ${subscriptionColumns} from subscription where agent_id = ${p('agentId')}`,
)

export async function insertSubscription(tx: Transaction, subscription: Subscription): Promise<void> {
  await tx.run(insert, toRow(subscription))
}

/** Locks a subscription until the transaction ends. Read it after this, then change it. */
export async function lockSubscription(tx: Transaction, id: string): Promise<void> {
  await tx.get(lock, { id })
}

/** Locks subscriptions until the transaction ends, all at the same time. Returns those that exist, as they are now. */
export async function lockSubscriptions(tx: Transaction, ids: readonly string[]): Promise<Subscription[]> {
  return (await lockMany.all(tx, ids)).map(subscriptionFromRow)
}

/**
 * Writes what a subscription listens to, where it goes and its keys. Call `changeState` after it, in the same transaction. Throws
 * `Collision` when the subscription is not what was read.
 */
export async function changeSettings(
  tx: Transaction,
  before: WakeSubscription,
  settings: WakeSubscription,
): Promise<void> {
  const changed = await tx.run(change, { knownAt: before.updatedAt, ...toRow(settings), id: before.id })
  if (changed === 0) throw new Collision(`Subscription ${before.id} was changed meanwhile.`)
}

/**
 * Removes a subscription. Its deliveries, replays and held events may be millions of rows: nobody can read them from now on, and a sweep
 * deletes them in small steps.
 */
export async function deleteSubscription(tx: Transaction, id: string): Promise<void> {
  if ((await tx.run(remove, { id })) === 0) throw new Collision(`Subscription ${id} was removed meanwhile.`)
  await noteRemoved(tx, [id])
}

/** Removes all subscriptions of an agent, push configs too. Its clients of MCP are notified with the reason. Returns their ids. */
export async function deleteSubscriptionsOf(tx: Transaction, agentId: string, reason: string): Promise<string[]> {
  const owned = (await tx.all(ownedBy, { agentId })).map(subscriptionFromRow)
  return endSubscriptions(tx, owned, reason)
}

/** Removes subscriptions that their clients have not ended: clients of MCP are notified with the reason. Returns their ids. */
export async function endSubscriptions(
  tx: Transaction,
  ended: readonly Subscription[],
  reason: string,
): Promise<string[]> {
  const ids = ended.map(({ id }) => id)
  await noteEnded(tx, ended, reason)
  await deleteSubscriptions(tx, ids)
  return ids
}

/** The same for several subscriptions, of which others may have removed some. */
export async function deleteSubscriptions(tx: Transaction, ids: readonly string[]): Promise<void> {
  await removeMany.run(tx, {}, ids)
  await noteRemoved(tx, ids)
}

export async function findSubscription(db: Reader, id: string): Promise<Subscription | undefined> {
  const row = await db.get(byId, { id })
  return row && subscriptionFromRow(row)
}

/** Returns those of the subscriptions that exist, in no order. */
export async function findSubscriptions(db: Reader, ids: readonly string[]): Promise<Subscription[]> {
  return (await amongIds.all(db, {}, ids)).map(subscriptionFromRow)
}

/** Returns the wake subscriptions of an agent, the oldest first. */
export async function listSubscriptions(db: Reader, agentId: string): Promise<WakeSubscription[]> {
  return (await db.all(byAgent, { agentId })).map(wakeFromRow)
}

/** Returns the wake subscriptions of an agent that go to one target, at most `limit`, the oldest first. */
export async function listSubscriptionsTo(
  db: Reader,
  agentId: string,
  harnessTarget: HarnessTarget,
  limit: number,
): Promise<WakeSubscription[]> {
  return (await db.all(toTarget, { agentId, harnessTarget, limit })).map(wakeFromRow)
}

/** Returns the wake subscriptions of an agent that are to announce what waits for it, in no order. */
export async function listAnnouncing(db: Reader, agentId: string): Promise<WakeSubscription[]> {
  return (await db.all(announcing, { agentId })).map(wakeFromRow)
}

/** A page of subscriptions. `more`: others follow its last one. `size`: of what was read, in characters. */
export interface WakeSubscriptions {
  readonly items: readonly WakeSubscription[]
  readonly more: boolean
  readonly size: number
}

/** Reads a page of the wake subscriptions of an agent, or of a project. Large ones make it shorter. */
export async function pageSubscriptions(
  db: Reader,
  of: { readonly agentId: string } | { readonly projectId: string },
  { limit, ...start }: SubscriptionPage,
): Promise<WakeSubscriptions> {
  const read = (last: SubscriptionRow | undefined, count: number) => {
    const { createdAt, id } = last ?? start
    const page = { createdAt, id, limit: count }
    return 'agentId' in of ? db.all(pageOfAgent, { ...page, ...of }) : db.all(pageOfProject, { ...page, ...of })
  }
  const bounds = { limit, sizeMax: sizeLimits.page.max, sizeOf: sizeOfRow }
  const { items, ...page } = await readBoundedPage(read, bounds)
  return { items: items.map(wakeFromRow), ...page }
}

const sizeOfRow = ({ filters, target }: SubscriptionRow): number => filters.length + target.length

/** Returns how many wake subscriptions an agent has. */
export async function countSubscriptions(db: Reader, agentId: string): Promise<number> {
  return (await db.get(wakesOf, { agentId }))?.count ?? 0
}

/** Returns how many push configs an agent has on tasks that are not finished. */
export async function countLivePushes(db: Reader, agentId: string): Promise<number> {
  return (await db.get(livePushesOf, { agentId }))?.count ?? 0
}

/** Returns the push configs that one caller has on a task. */
export async function listPushSubscriptions(db: Reader, taskId: string, callerId: string): Promise<PushSubscription[]> {
  return (await db.all(pushesOfTask, { taskId, agentId: callerId })).map(pushFromRow)
}
