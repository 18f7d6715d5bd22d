import { randomBytes } from 'node:crypto'
import { int, type NounOf, nullable, text } from '../../storage/columns.ts'
import type { Database, Reader, Transaction } from '../../storage/database.ts'
import { stepRows } from '../../storage/delete-in-batches.ts'
import { ListStatement } from '../../storage/list.ts'
import { RowTable } from '../../storage/row-table.ts'
import { limited, ownedBetween, p, sql, statement } from '../../storage/statement.ts'

const fields = {
  /** The id of the MCP task. */
  id: text,
  projectId: text,
  agentId: text,
  /** The key that began it. */
  keyId: text,
  /** null: it waits for the next mail of its agent. */
  taskId: nullable(text),
  /** The live session at its last poll; null: there was none. */
  sessionId: nullable(text),
  createdAt: int,
  polledAt: int,
  /** Until then a poll is held, or the next one is about to come. */
  heldUntil: int,
  /** The time of the first poll that had the end for its answer; null: none has. */
  deliveredAt: nullable(int),
  /** The time when its client ended it; null: it has not. */
  cancelledAt: nullable(int),
}
/** Someone who follows a task, or its own next mail, as an MCP task. Instants in ms since the epoch. */
export type Follower = NounOf<typeof fields>

/** The most that an agent has; of more, those whose last poll is longest ago are removed. */
const followersMax = 1_000

const followers = new RowTable('follower', fields)
const { columns } = followers
const insert = followers.insert()
const removeSurplus = statement<{ agentId: string; keep: number }>(sql`delete from follower where id in (
  select id from follower where agent_id = ${p('agentId')} order by polled_at desc, id limit 100 offset ${p('keep')})`)
const byId = statement<{ id: string }, Follower>(sql`select ${columns} from follower where id = ${p('id')}`)
const open = sql`delivered_at is null and cancelled_at is null`
const live = sql`${open} and held_until > ${p('now')}`
const hold = statement<{ id: string; sessionId: string | null; now: number; until: number }>(
  sql`update follower set polled_at = ${p('now')}, held_until = ${p('until')}, session_id = ${p('sessionId')} where id = ${p('id')}`,
)
const letGo = statement<{ id: string; polledAt: number; now: number }>(
  sql`update follower set held_until = ${p('now')} where id = ${p('id')} and polled_at = ${p('polledAt')}`,
)
const deliver = statement<{ id: string; now: number }>(
  sql`update follower set delivered_at = ${p('now')} where id = ${p('id')} and ${open}`,
)
const cancel = statement<{ id: string; now: number }>(
  sql`update follower set cancelled_at = ${p('now')}, held_until = ${p('now')}
    where id = ${p('id')} and ${open}`,
)
const ofTask = statement<{ agentId: string; taskId: string; now: number }, { one: number }>(
  sql`select 1 as "one" from follower where agent_id = ${p('agentId')} and task_id = ${p('taskId')} and ${live} limit 1`,
)
const ofMail = new ListStatement<{ now: number }, { agentId: string }>(
  (agentIds) =>
    sql`select distinct agent_id as "agentId" from follower where agent_id in (${agentIds}) and task_id is null and ${live}`,
)
const pageOf = <Owner extends object>(owner: 'agent_id' | 'project_id', value: string) => {
  const page = ownedBetween({ owner, id: 'id' }, p(value), { after: sql`${p('after')}` })
  return statement<Owner & { after: string; limit: number }, Follower>(
    sql`select ${columns} from follower where ${page} and ${open} order by ${sql.raw(owner)}, id ${limited}`,
  )
}
const ofAgent = pageOf<{ agentId: string }>('agent_id', 'agentId')
const ofProject = pageOf<{ projectId: string }>('project_id', 'projectId')
const move = statement<{ from: string; to: string }>(
  sql`update follower set key_id = ${p('to')} where key_id = ${p('from')}`,
)
const removeOf = statement<{ agentId: string }>(sql`delete from follower where agent_id = ${p('agentId')}`)
const removeAged = statement<{ before: number; limit: number }>(
  sql`delete from follower where id in (select id from follower where polled_at < ${p('before')} order by polled_at ${limited})`,
)

/** Returns an id with 192 random bits. */
export const newFollowerId = (): string => `follower_${randomBytes(24).toString('base64url')}`

export async function insertFollower(tx: Transaction, follower: Follower): Promise<void> {
  await tx.run(insert, follower)
  await tx.run(removeSurplus, { agentId: follower.agentId, keep: followersMax })
}

export async function findFollower(db: Reader, id: string): Promise<Follower | undefined> {
  return db.get(byId, { id })
}

/** Notes a poll that is held until an instant, or until the next one should have come. */
export async function holdFollower(
  tx: Transaction,
  id: string,
  { sessionId, until }: { readonly sessionId: string | null; readonly until: number },
): Promise<void> {
  await tx.run(hold, { id, sessionId, now: tx.now, until })
}

/** Notes that the poll of an instant is held no more, unless a newer one is. */
export async function letFollowerGo(tx: Transaction, id: string, polledAt: number): Promise<void> {
  await tx.run(letGo, { id, polledAt, now: tx.now })
}

/** Notes that a poll has the end for its answer. Returns false where one had it before, or the client has ended it. */
export async function deliverToFollower(tx: Transaction, id: string): Promise<boolean> {
  return (await tx.run(deliver, { id, now: tx.now })) > 0
}

/** Ends the following. What has ended before stays as it is. */
export async function cancelFollower(tx: Transaction, id: string): Promise<void> {
  await tx.run(cancel, { id, now: tx.now })
}

/** True when an agent polls for the end of a task at this moment. */
export async function followsTask(tx: Transaction, agentId: string, taskId: string): Promise<boolean> {
  return (await tx.get(ofTask, { agentId, taskId, now: tx.now })) !== undefined
}

/** Returns those of the agents that poll for their next mail at this moment. */
export async function waitingForMail(tx: Transaction, agentIds: readonly string[]): Promise<string[]> {
  return (await ofMail.all(tx, { now: tx.now }, agentIds)).map(({ agentId }) => agentId)
}

/** Returns a page of the followers of an agent or a project that have no end yet. `after`: the last id of the page before. */
export function listFollowers(
  db: Reader,
  of: { readonly agentId: string } | { readonly projectId: string },
  page: { readonly after: string; readonly limit: number },
): Promise<Follower[]> {
  return 'agentId' in of ? db.all(ofAgent, { ...of, ...page }) : db.all(ofProject, { ...of, ...page })
}

/** Moves the followers of a key to the one that replaces it. */
export async function moveFollowers(tx: Transaction, from: string, to: string): Promise<void> {
  await tx.run(move, { from, to })
}

export async function deleteFollowersOf(tx: Transaction, agentId: string): Promise<void> {
  await tx.run(removeOf, { agentId })
}

/** Removes followers whose last poll was before an instant (ms since the epoch). Returns how many. */
export async function pruneFollowers(db: Database, before: number, signal: AbortSignal): Promise<number> {
  let pruned = 0
  for (let rows = stepRows; rows === stepRows && !signal.aborted; pruned += rows) {
    rows = await db.transaction((tx) => tx.run(removeAged, { before, limit: stepRows }))
  }
  return pruned
}
