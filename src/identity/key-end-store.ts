import { moveMcpSessions } from '../mcp-sessions/mcp-session-store.ts'
import { moveFollowers } from '../registry/followers/follower-store.ts'
import { moveGrants } from '../registry/permissions/permission-store.ts'
import type { PushTarget } from '../registry/subscriptions/subscription.ts'
import type { Reader, Transaction } from '../storage/database.ts'
import { limited, p, sql, statement } from '../storage/statement.ts'

/** A push config that was made with a key. */
interface KeyedPush {
  readonly id: string
  readonly projectId: string
  readonly taskId: string
  readonly configId: string
}

const managed = statement<{ managerId: string }, { ownerId: string }>(
  sql`select distinct agent_id as "ownerId" from subscription where managed_by = ${p('managerId')} order by 1`,
)
const pushesOfKey = statement<{ keyId: string; limit: number }, Omit<KeyedPush, 'configId'> & { target: string }>(
  sql`select id, project_id as "projectId", audience as "taskId", target from subscription
    where key_id = ${p('keyId')} and kind = 'push' order by id /*postgres || '' */ ${limited}`,
)
const moveSubscriptions = statement<{ from: string; to: string; now: number }>(
  sql`update subscription set key_id = ${p('to')}, updated_at = ${p('now')} where key_id = ${p('from')}`,
)
const moveSessions = statement<{ from: string; to: string }>(
  sql`update session set key_id = ${p('to')} where key_id = ${p('from')} and ended_at is null`,
)

/** Returns the ids of the agents that have a subscription whose target another agent set. */
export async function listManagedOwners(db: Reader, managerId: string): Promise<string[]> {
  return (await db.all(managed, { managerId })).map(({ ownerId }) => ownerId)
}

/** Returns up to `limit` push configs that were made with a key. */
export async function listPushesOfKey(db: Reader, keyId: string, limit: number): Promise<KeyedPush[]> {
  const rows = await db.all(pushesOfKey, { keyId, limit })
  return rows.map(({ target, ...push }) => ({ ...push, configId: (JSON.parse(target) as PushTarget).configId }))
}

/** Moves subscriptions, live sessions, followers and permissions from one key to another. */
export async function moveToKey(tx: Transaction, from: string, to: string): Promise<void> {
  await tx.run(moveSubscriptions, { from, to, now: tx.now })
  await tx.run(moveSessions, { from, to })
  await moveMcpSessions(tx, from, to)
  await moveFollowers(tx, from, to)
  await moveGrants(tx, from, to)
}
