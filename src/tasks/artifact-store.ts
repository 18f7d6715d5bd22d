import { flag, int, json, type RowOf, text } from '../storage/columns.ts'
import type { Reader, Transaction } from '../storage/database.ts'
import { RowTable } from '../storage/row-table.ts'
import { p, sql, statement } from '../storage/statement.ts'
import { assembleArtifacts, type Chunk, type NewChunk } from './artifact.ts'
import type { A2aArtifact, Task } from './task.ts'

const fields = { artifactId: text, append: flag, lastChunk: flag, artifact: json<A2aArtifact>() }
export type ChunkRow = RowOf<typeof fields>

const chunks = new RowTable('task_chunk', fields, { taskId: text, seq: int, size: int, createdAt: int })
export const chunkColumns = chunks.columns
export const chunkFromRow = chunks.fromRow
const insert = chunks.insert()
const chunkAt = statement<{ taskId: string; seq: number }, ChunkRow>(
  sql`select ${chunkColumns} from task_chunk where task_id = ${p('taskId')} and seq = ${p('seq')}`,
)
const chunksOf = statement<{ taskId: string; upTo: number }, ChunkRow>(
  sql`select ${chunkColumns} from task_chunk where task_id = ${p('taskId')} and seq <= ${p('upTo')} order by seq`,
)
const chunksOfArtifact = statement<{ taskId: string; artifactId: string }, { seq: number }>(
  sql`select seq from task_chunk where task_id = ${p('taskId')} and artifact_id = ${p('artifactId')} limit 1`,
)

/** Stores a chunk as number `seq` of its task. The task's row counts it: `updateChunkCount`, `moveTaskRow`. */
export async function insertChunk(tx: Transaction, taskId: string, seq: number, chunk: NewChunk): Promise<void> {
  await tx.run(insert, {
    taskId,
    seq,
    artifactId: chunk.artifactId,
    append: chunk.append ? 1 : 0,
    lastChunk: chunk.lastChunk ? 1 : 0,
    artifact: chunk.encoded.text,
    size: chunk.encoded.size,
    createdAt: tx.now,
  })
}

export async function hasArtifact(db: Reader, taskId: string, artifactId: string): Promise<boolean> {
  return (await db.get(chunksOfArtifact, { taskId, artifactId })) !== undefined
}

export async function readChunk(db: Reader, taskId: string, seq: number): Promise<Chunk | undefined> {
  const row = await db.get(chunkAt, { taskId, seq })
  return row && chunkFromRow(row)
}

/** The artifacts of this state of the task: chunks that were added later are left out. */
export async function readArtifacts(db: Reader, task: Task): Promise<A2aArtifact[]> {
  if (task.chunkCount === 0) return []
  return assembleArtifacts((await db.all(chunksOf, { taskId: task.id, upTo: task.chunkCount })).map(chunkFromRow))
}
