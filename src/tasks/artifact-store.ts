import type { Reader, Transaction } from '../storage/database.ts'
import { p, sql, statement } from '../storage/statement.ts'
import { assembleArtifacts, type Chunk, type NewChunk } from './artifact.ts'
import type { A2aArtifact, Task } from './task.ts'

export interface ChunkRow {
  artifactId: string
  append: number
  lastChunk: number
  artifact: string
}

const insert = statement<{
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
    now: tx.now,
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

export function chunkFromRow(row: ChunkRow): Chunk {
  return {
    artifactId: row.artifactId,
    append: row.append === 1,
    lastChunk: row.lastChunk === 1,
    artifact: JSON.parse(row.artifact) as A2aArtifact,
  }
}
