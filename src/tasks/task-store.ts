import { contextOf } from '../lib/ids.ts'
import { int, nullable, type RowOf, text } from '../storage/columns.ts'
import type { Reader, Transaction } from '../storage/database.ts'
import { ListStatement } from '../storage/list.ts'
import { RowTable } from '../storage/row-table.ts'
import { lateFilter, lockingStatement, p, type SQL, sql, statement } from '../storage/statement.ts'
import type { EncodedPart } from './encoded.ts'
import { type Task, type TaskParties, taskFields } from './task.ts'
import { countTask } from './task-count-store.ts'

export type TaskRow = RowOf<typeof taskFields>

const tasks = new RowTable('task', taskFields, { firstSize: nullable(int), firstMessage: nullable(text) })
export const taskColumns = tasks.columns

/**
 * The two parts of the tasks of an agent, each with indexes of its own: those that are with the agent that they were sent to, which
 * are almost all, and those that were handed over. PostgreSQL takes a bare comparison of two columns for rare.
 */
export const withItsAgent: SQL = lateFilter(sql`agent_id = assignee_id`)
export const handedOver: SQL = lateFilter(sql`agent_id <> assignee_id`)
export const partsByHandOver: readonly SQL[] = [withItsAgent, handedOver]

const insert = tasks.insert()
const byId = statement<{ id: string }, TaskRow>(sql`select ${taskColumns} from task where id = ${p('id')}`)
const amongIds = new ListStatement<object, TaskRow>((ids) => sql`select ${taskColumns} from task where id in (${ids})`)

const lockById = lockingStatement<{ id: string }, TaskRow>(
  'task',
  sql`select ${taskColumns} from task where id = ${p('id')}`,
)

// The row is guarded by everything that counts changes: zero rows mean that it is not as it was read.
type TaskChange = Pick<
  Task,
  'id' | 'state' | 'reason' | 'statusMessageSeq' | 'messageCount' | 'chunkCount' | 'size' | 'expiresAt'
>
const move = statement<
  TaskChange & { expectedVersion: number; expectedChunks: number; now: number }
>(sql`update task set state = ${p('state')}, version = version + 1, status_message_seq = ${p('statusMessageSeq')},
    status_at = ${p('now')}, reason = ${p('reason')}, message_count = ${p('messageCount')}, chunk_count = ${p('chunkCount')},
    size = ${p('size')}, expires_at = ${p('expiresAt')}, updated_at = ${p('now')}
  where id = ${p('id')} and version = ${p('expectedVersion')} and chunk_count = ${p('expectedChunks')}`)
const assign = statement<{ id: string; expectedVersion: number; assigneeId: string; now: number }>(sql`update task
  set assignee_id = ${p('assigneeId')}, version = version + 1, status_at = ${p('now')}, updated_at = ${p('now')}
  where id = ${p('id')} and version = ${p('expectedVersion')}`)
const countMessage = statement<{
  id: string
  expectedVersion: number
  messageCount: number
  added: number
  now: number
}>(sql`update task set version = version + 1,
    message_count = ${p('messageCount')}, size = size + ${p('added')}, updated_at = ${p('now')}
  where id = ${p('id')} and version = ${p('expectedVersion')}`)
const countChunk = statement<{ id: string; chunkCount: number; added: number; now: number }>(
  sql`update task set chunk_count = ${p('chunkCount')}, size = size + ${p('added')}, updated_at = ${p('now')} where id = ${p('id')}`,
)
const parties = new ListStatement<object, TaskParties>(
  (ids) => sql`select id, project_id as "projectId", assignee_id as "assigneeId", originator_id as "originatorId"
    from task where id in (${ids})`,
)

/** Stores a new task, with its first message if that is short. Its other messages and its chunks are rows of their own. */
export async function insertTask(tx: Transaction, task: Task, first?: EncodedPart | undefined): Promise<void> {
  const contextId = task.contextId === contextOf(task.id) ? '' : task.contextId
  await tx.run(insert, {
    firstSize: first?.size ?? null,
    firstMessage: first?.text ?? null,
    ...task,
    // As `toRow` does it: a second copy of the row would cost more than all the rest.
    taggedConcepts: JSON.stringify(task.taggedConcepts),
    metadata: task.metadata === null ? null : JSON.stringify(task.metadata),
    contextId,
  })
  countTask(tx, { after: task })
}

export async function findTask(db: Reader, id: string): Promise<Task | undefined> {
  const row = await db.get(byId, { id })
  return row && taskFromRow(row)
}

/** Returns tasks, in no order. Ids of no task are left out. */
export async function findTasks(db: Reader, ids: readonly string[]): Promise<Task[]> {
  return (await amongIds.all(db, {}, ids)).map(taskFromRow)
}

/** The parties of tasks, without the tasks' content. Ids of no task are left out. */
export function findParties(db: Reader, ids: readonly string[]): Promise<TaskParties[]> {
  return parties.all(db, {}, ids)
}

/** Reads a task and locks its row until the transaction ends: for a writer whose change depends on what it reads. */
export async function lockTask(tx: Transaction, id: string): Promise<Task | undefined> {
  const row = await tx.get(lockById, { id })
  return row && taskFromRow(row)
}

/** Writes a task's next state over the one it was read in. False: the row has changed since, and is left as it is. */
export async function moveTaskRow(tx: Transaction, before: Task, next: Task): Promise<boolean> {
  const { id, version: expectedVersion, chunkCount: expectedChunks } = before
  const isMoved = (await tx.run(move, { expectedVersion, expectedChunks, now: tx.now, ...next, id })) > 0
  if (isMoved) countTask(tx, { before, after: next })
  return isMoved
}

/** Writes a task's next assignee over the one it was read with. False: the row has changed since, and is left as it is. */
export async function assignTaskRow(tx: Transaction, before: Task, assigneeId: string): Promise<boolean> {
  const { id, version: expectedVersion } = before
  const isAssigned = (await tx.run(assign, { id, expectedVersion, assigneeId, now: tx.now })) > 0
  if (isAssigned) countTask(tx, { before, after: { ...before, assigneeId } })
  return isAssigned
}

/** Counts a message that leaves the state as it is. False: the row has changed since it was read. */
export async function updateMessageCount(tx: Transaction, before: Task, { size }: EncodedPart): Promise<boolean> {
  const { id, version: expectedVersion, messageCount } = before
  const counted = { id, expectedVersion, messageCount: messageCount + 1, added: size, now: tx.now }
  return (await tx.run(countMessage, counted)) > 0
}

/** Counts a chunk. The version stays: a harness that streams an artifact keeps the version it knows. */
export async function updateChunkCount(tx: Transaction, before: Task, { size }: EncodedPart): Promise<void> {
  await tx.run(countChunk, { id: before.id, chunkCount: before.chunkCount + 1, added: size, now: tx.now })
}

export function taskFromRow(row: TaskRow): Task {
  const task = tasks.fromRow(row)
  return { ...task, contextId: task.contextId || contextOf(task.id) }
}
