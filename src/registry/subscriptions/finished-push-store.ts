import type { Reader, Transaction } from '../../storage/database.ts'
import { limited, p, sql, statement } from '../../storage/statement.ts'
import type { PushTarget } from './subscription.ts'
import { deleteSubscriptions } from './subscription-store.ts'

/** A push config that sends nothing more: its task is finished, or its key has ended. */
interface FinishedPush {
  readonly id: string
  readonly taskId: string
  readonly configId: string
}

interface Finished {
  agentId: string
  projectId: string
  limit: number
  /** How many are looked at for the oldest. */
  among: number
}

const counted = statement<{ agentId: string; limit: number }, { count: number }>(
  sql`select count(*) as "count" from (
    select id from subscription where agent_id = ${p('agentId')} and kind = 'push' ${limited}) page`,
)
const oldest = statement<Finished, { id: string; taskId: string; target: string }>(
  sql`select id, audience as "taskId", target from subscription where id in (
    select id from (
      select id, created_at from subscription
      where agent_id = ${p('agentId')} and kind = 'push' and status = 'paused' and project_id = ${p('projectId')}
      limit ${p('among')}) finished
    order by created_at, id ${limited})`,
)
const some = statement<{ agentId: string; limit: number }, { id: string }>(
  sql`select id from subscription where agent_id = ${p('agentId')} and kind = 'push' and status = 'paused' ${limited}`,
)

/** Counts the push configs of an agent, finished ones too, up to `limit`. */
export async function countPushes(db: Reader, agentId: string, limit: number): Promise<number> {
  return (await db.get(counted, { agentId, limit }))?.count ?? 0
}

/** Deletes the oldest finished push configs that an agent has in a project. Returns them. */
export async function removeOldestFinished(tx: Transaction, finished: Finished): Promise<FinishedPush[]> {
  const found = await tx.all(oldest, finished)
  await deleteSubscriptions(
    tx,
    found.map(({ id }) => id),
  )
  return found.map(({ target, ...push }) => ({ ...push, configId: (JSON.parse(target) as PushTarget).configId }))
}

/** Deletes up to `limit` finished push configs of an agent, in all projects. Returns how many. */
export async function removeFinishedPushes(tx: Transaction, agentId: string, limit: number): Promise<number> {
  const found = await tx.all(some, { agentId, limit })
  await deleteSubscriptions(
    tx,
    found.map(({ id }) => id),
  )
  return found.length
}
