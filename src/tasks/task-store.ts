import type { JsonObject } from '../lib/json.ts'
import type { Priority } from '../registry/agents/agent.ts'
import type { Reader, Transaction } from '../storage/database.ts'
import { ListStatement } from '../storage/list.ts'
import { limited, lockingStatement, p, sql, statement } from '../storage/statement.ts'
import type { Written } from './room.ts'
import type { TaskState } from './state.ts'
import type { A2aArtifact, A2aMessage, Task, TaskParties } from './task.ts'

export interface TaskRow extends Omit<Task, 'state' | 'priority' | 'taggedConcepts' | 'metadata'> {
  state: string
  priority: string
  taggedConcepts: string
  metadata: string | null
}

export const taskColumns =
  sql.raw(`id, project_id as "projectId", context_id as "contextId", assignee_id as "assigneeId",
  originator_id as "originatorId", state, version, status_message_seq as "statusMessageSeq", status_at as "statusAt", reason,
  priority, tagged_concepts as "taggedConcepts", metadata, message_count as "messageCount", chunk_count as "chunkCount", size,
  expires_at as "expiresAt", created_at as "createdAt", updated_at as "updatedAt"`)

const insert =
  statement<TaskRow>(sql`insert into task (id, project_id, context_id, assignee_id, originator_id, state, version,
    status_message_seq, status_at, reason, priority, tagged_concepts, metadata, message_count, chunk_count, size,
    expires_at, created_at, updated_at)
  values (${p('id')}, ${p('projectId')}, ${p('contextId')}, ${p('assigneeId')}, ${p('originatorId')}, ${p('state')}, ${p('version')},
    ${p('statusMessageSeq')}, ${p('statusAt')}, ${p('reason')}, ${p('priority')}, ${p('taggedConcepts')}, ${p('metadata')},
    ${p('messageCount')}, ${p('chunkCount')}, ${p('size')}, ${p('expiresAt')}, ${p('createdAt')}, ${p('updatedAt')})`)
const byId = statement<{ id: string }, TaskRow>(sql`select ${taskColumns} from task where id = ${p('id')}`)

const lockById = lockingStatement<{ id: string }, TaskRow>(
  'task',
  sql`select ${taskColumns} from task where id = ${p('id')}`,
)

// The one statement that moves a task: zero rows means that somebody else moved it first.
const move = statement<{
  id: string
  expectedVersion: number
  state: string
  reason: string | null
  statusMessageSeq: number | null
  messageCount: number
  size: number
  expiresAt: number | null
  now: number
}>(sql`update task set state = ${p('state')}, version = version + 1, status_message_seq = ${p('statusMessageSeq')},
    status_at = ${p('now')}, reason = ${p('reason')}, message_count = ${p('messageCount')}, size = size + ${p('size')},
    expires_at = ${p('expiresAt')}, updated_at = ${p('now')}
  where id = ${p('id')} and version = ${p('expectedVersion')}`)
const addMessage = statement<{
  id: string
  messageCount: number
  size: number
  now: number
}>(sql`update task set version = version + 1,
    message_count = ${p('messageCount')}, size = size + ${p('size')}, updated_at = ${p('now')} where id = ${p('id')}`)
const countChunk = statement<{ id: string; chunkCount: number; size: number; now: number }>(
  sql`update task set chunk_count = ${p('chunkCount')}, size = size + ${p('size')}, updated_at = ${p('now')} where id = ${p('id')}`,
)
const parties = new ListStatement<object, TaskParties>(
  (ids) => sql`select id, project_id as "projectId", assignee_id as "assigneeId", originator_id as "originatorId"
    from task where id in (${ids})`,
)
const insertMessageRow = statement<{ taskId: string; seq: number; message: string; size: number; now: number }>(
  sql`insert into task_message (task_id, seq, message, size, created_at)
  values (${p('taskId')}, ${p('seq')}, ${p('message')}, ${p('size')}, ${p('now')})`,
)
const insertChunkRow = statement<{
  taskId: string
  seq: number
  artifactId: string
  append: number
  lastChunk: number
  artifact: string
  size: number
  now: number
}>(sql`insert into task_chunk (task_id, seq, artifact_id, append, last_chunk, artifact, size, created_at)
  values (${p('taskId')}, ${p('seq')}, ${p('artifactId')}, ${p('append')}, ${p('lastChunk')}, ${p('artifact')}, ${p('size')}, ${p('now')})`)
const messageAt = statement<{ taskId: string; seq: number }, { message: string }>(
  sql`select message from task_message where task_id = ${p('taskId')} and seq = ${p('seq')}`,
)
const messagesOf = statement<
  { taskId: string; limit: number; except: number; upTo: number },
  { message: string }
>(sql`select message from task_message
  where task_id = ${p('taskId')} and seq <= ${p('upTo')} and seq <> ${p('except')} order by seq desc ${limited}`)
const chunkAt = statement<{ taskId: string; seq: number }, ChunkRow>(sql`select artifact_id as "artifactId", append,
  last_chunk as "lastChunk", artifact from task_chunk where task_id = ${p('taskId')} and seq = ${p('seq')}`)
const chunksOf = statement<
  { taskId: string; upTo: number },
  ChunkRow
>(sql`select artifact_id as "artifactId", append, last_chunk as "lastChunk", artifact
  from task_chunk where task_id = ${p('taskId')} and seq <= ${p('upTo')} order by seq`)
const chunksOfArtifact = statement<{ taskId: string; artifactId: string }, { seq: number }>(
  sql`select seq from task_chunk where task_id = ${p('taskId')} and artifact_id = ${p('artifactId')} limit 1`,
)

export interface ChunkRow {
  artifactId: string
  append: number
  lastChunk: number
  artifact: string
}

/** A piece of an artifact: `append` false starts the artifact anew. */
export interface Chunk {
  readonly artifactId: string
  readonly append: boolean
  readonly lastChunk: boolean
  readonly artifact: A2aArtifact
}

/** Keeps a new task. `first` is the message that it begins with, which is kept by itself. */
export async function insertTask(tx: Transaction, task: Task, first: Written): Promise<void> {
  const metadata = task.metadata === null ? null : JSON.stringify(task.metadata)
  await tx.run(insert, {
    ...task,
    taggedConcepts: JSON.stringify(task.taggedConcepts),
    metadata,
    size: first.size + (metadata === null ? 0 : Buffer.byteLength(metadata)),
  })
}

export async function findTask(db: Reader, id: string): Promise<Task | undefined> {
  const row = await db.get(byId, { id })
  return row && taskFromRow(row)
}

/** Whose these tasks are, without what is in them; those that are not there are left out. */
export function findParties(db: Reader, ids: readonly string[]): Promise<TaskParties[]> {
  return parties.all(db, {}, ids)
}

/** The task as it is, and stays for everybody else until the transaction ends: for whoever writes what depends on it. */
export async function lockTask(tx: Transaction, id: string): Promise<Task | undefined> {
  const row = await tx.get(lockById, { id })
  return row && taskFromRow(row)
}

/** Moves a task if it still has the expected version. False is a conflict. `expiresAt` stays unless it is given. */
export async function moveTaskRow(
  tx: Transaction,
  task: Task,
  to: {
    state: TaskState
    expectedVersion: number
    statusMessageSeq: number | null
    messageCount: number
    /** What its status message adds to what the task holds; 0 without one. */
    size: number
    reason: string | null
    expiresAt?: number | null
  },
): Promise<boolean> {
  return (await tx.run(move, { id: task.id, now: tx.now, expiresAt: task.expiresAt, ...to })) > 0
}

/** Keeps one more message; it becomes part of the history. Whoever counts it adds its size. Answers its place. */
export async function insertTaskMessage(tx: Transaction, task: Task, { text, size }: Written): Promise<number> {
  const seq = task.messageCount + 1
  await tx.run(insertMessageRow, { taskId: task.id, seq, message: text, size, now: tx.now })
  return seq
}

/** Counts a message that changed no state. */
export async function countMessage(tx: Transaction, task: Task, { size }: Written): Promise<void> {
  await tx.run(addMessage, { id: task.id, messageCount: task.messageCount + 1, size, now: tx.now })
}

/** Keeps one more piece of an artifact, `written` as it is, and counts it. Answers its place. */
export async function insertChunk(tx: Transaction, task: Task, chunk: Chunk, written: Written): Promise<number> {
  const seq = task.chunkCount + 1
  await tx.run(insertChunkRow, {
    taskId: task.id,
    seq,
    artifactId: chunk.artifactId,
    append: chunk.append ? 1 : 0,
    lastChunk: chunk.lastChunk ? 1 : 0,
    artifact: written.text,
    size: written.size,
    now: tx.now,
  })
  await tx.run(countChunk, { id: task.id, chunkCount: seq, size: written.size, now: tx.now })
  return seq
}

export async function hasArtifact(db: Reader, taskId: string, artifactId: string): Promise<boolean> {
  return (await db.get(chunksOfArtifact, { taskId, artifactId })) !== undefined
}

export async function readTaskMessage(db: Reader, taskId: string, seq: number): Promise<A2aMessage | null> {
  const row = await db.get(messageAt, { taskId, seq })
  return row ? (JSON.parse(row.message) as A2aMessage) : null
}

/** The newest `limit` messages without the current status message, oldest first: those that this state of the task counts. */
export async function readHistory(db: Reader, task: Task, limit: number): Promise<A2aMessage[]> {
  if (limit <= 0) return []
  const rows = await db.all(messagesOf, {
    taskId: task.id,
    limit,
    except: task.statusMessageSeq ?? 0,
    upTo: task.messageCount,
  })
  return rows.reverse().map((row) => JSON.parse(row.message) as A2aMessage)
}

export async function readChunk(db: Reader, taskId: string, seq: number): Promise<Chunk | undefined> {
  const row = await db.get(chunkAt, { taskId, seq })
  return row && chunkFromRow(row)
}

export async function readArtifacts(db: Reader, task: Task): Promise<A2aArtifact[]> {
  if (task.chunkCount === 0) return []
  return assembleArtifacts((await db.all(chunksOf, { taskId: task.id, upTo: task.chunkCount })).map(chunkFromRow))
}

/** Puts chunks together, in the order in which their artifacts first appeared. Pure; takes as long as there is to put together. */
export function assembleArtifacts(chunks: readonly Chunk[]): A2aArtifact[] {
  const artifacts = new Map<string, A2aArtifact>()
  for (const { artifactId, append, artifact } of chunks) {
    const before = artifacts.get(artifactId)
    if (!append || !before) {
      artifacts.set(artifactId, { ...artifact, parts: [...artifact.parts] })
      continue
    }
    for (const part of artifact.parts) before.parts.push(part)
    Object.assign(before, { ...artifact, parts: before.parts })
  }
  return [...artifacts.values()]
}

export function taskFromRow(row: TaskRow): Task {
  return {
    ...row,
    state: row.state as TaskState,
    priority: row.priority as Priority,
    taggedConcepts: JSON.parse(row.taggedConcepts) as string[],
    metadata: row.metadata === null ? null : (JSON.parse(row.metadata) as JsonObject),
  }
}

export function chunkFromRow(row: ChunkRow): Chunk {
  return {
    artifactId: row.artifactId,
    append: row.append === 1,
    lastChunk: row.lastChunk === 1,
    artifact: JSON.parse(row.artifact) as A2aArtifact,
  }
}
