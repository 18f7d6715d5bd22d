import type { Reader } from '../storage/database.ts'
import { ListStatement } from '../storage/list.ts'
import { limited, p, sql, statement } from '../storage/statement.ts'
import { assembleArtifacts, type Chunk } from './artifact.ts'
import { type ChunkRow, chunkColumns, chunkFromRow } from './artifact-store.ts'
import type { A2aArtifact, A2aMessage, Omitted, Task } from './task.ts'
import { messagesOfTask, readMessagesAt, readTaskMessage } from './task-message-store.ts'

interface Size {
  readonly seq: number
  readonly size: number
}
interface ChunkSize extends Size {
  readonly artifactId: string
  readonly append: number
}

const messageSizes = statement<{ taskId: string; limit: number; except: number; upTo: number }, Size>(
  sql`select seq, size from ${messagesOfTask}
  where seq <= ${p('upTo')} and seq <> ${p('except')} order by seq desc ${limited}`,
)
const messageSize = statement<{ taskId: string; seq: number }, Size>(
  sql`select seq, size from ${messagesOfTask} where seq = ${p('seq')}`,
)
const chunkSizes = statement<{ taskId: string; upTo: number }, ChunkSize>(
  sql`select seq, artifact_id as "artifactId", append, coalesce(size, octet_length(artifact)) as "size" from task_chunk
  where task_id = ${p('taskId')} and seq <= ${p('upTo')} order by seq`,
)
const chunksAt = new ListStatement<{ taskId: string }, ChunkRow & { seq: number }>(
  (seqs) => sql`select seq, ${chunkColumns} from task_chunk where task_id = ${p('taskId')} and seq in (${seqs})`,
)

interface ContentQuery {
  /** How many of the newest messages are wanted. */
  readonly historyLength: number
  readonly artifacts: boolean
  readonly sizeMax: number
}

/** The part of a task's content that fits into an answer. */
interface ContentWithin {
  readonly statusMessage: A2aMessage | null
  readonly history: A2aMessage[]
  readonly artifacts: A2aArtifact[]
  readonly omitted: Omitted
}

/** The same part before anything of it is read: only the sizes are known. */
export interface ContentPlan {
  /** The chunks of all artifacts, those that were replaced too. */
  readonly all: readonly ChunkSize[]
  readonly chunks: readonly Size[]
  readonly messages: readonly Size[]
  readonly omitted: Omitted
  /** Bytes of the part, as `Encoded.size` counts them. */
  readonly size: number
}

/**
 * Reads the status message, then the artifact chunks in their order, then the newest messages, up to `sizeMax` bytes. The sizes
 * are read first, and then only what fits.
 */
export async function readContentWithin(db: Reader, task: Task, query: ContentQuery): Promise<ContentWithin> {
  return readPlanned(db, task, await planContent(db, task, query))
}

/** Reads the sizes of a task's content, and decides what of it fits into an answer. */
export async function planContent(
  db: Reader,
  task: Task,
  { historyLength, artifacts, sizeMax }: ContentQuery,
): Promise<ContentPlan> {
  const room = new Room(sizeMax)
  const statusSize = await statusMessageSize(db, task)
  room.taken = statusSize
  const all = artifacts && task.chunkCount > 0 ? await readChunkSizes(db, task) : []
  const current = currentChunks(all)
  const chunks = room.take(current)
  const newest = historyLength > 0 ? await readMessageSizes(db, task, historyLength) : []
  const messages = room.take(newest)
  const omitted = { messages: newest.length - messages.length, artifactPieces: current.length - chunks.length }
  return { all, chunks, messages, omitted, size: room.taken }
}

/** Reads what was planned. */
export async function readPlanned(
  db: Reader,
  task: Task,
  { all, chunks, messages, omitted }: ContentPlan,
): Promise<ContentWithin> {
  const statusSeq = task.statusMessageSeq
  const rows = await chunksAt.all(db, { taskId: task.id }, seqsOf(chunks))
  const read: Chunk[] = rows.sort((a, b) => a.seq - b.seq).map(chunkFromRow)
  return {
    statusMessage: statusSeq === null ? null : await readTaskMessage(db, task.id, statusSeq),
    history: await readMessagesAt(db, task.id, seqsOf(messages)),
    artifacts: inOrderOf(all, assembleArtifacts(read)),
    omitted,
  }
}

/** The bytes of a task's status message; 0: it has none. */
async function statusMessageSize(db: Reader, { id, statusMessageSeq: seq }: Task): Promise<number> {
  return seq === null ? 0 : ((await db.get(messageSize, { taskId: id, seq }))?.size ?? 0)
}

/** Counts the bytes of an answer. */
class Room {
  taken = 0
  readonly #max: number

  constructor(max: number) {
    this.#max = max
  }

  /** The longest prefix that still fits. */
  take(sizes: readonly Size[]): Size[] {
    const kept: Size[] = []
    for (const size of sizes) {
      if (this.taken + size.size > this.#max) break
      this.taken += size.size
      kept.push(size)
    }
    return kept
  }
}

/** The chunks that the artifacts still consist of: one without `append` replaces those before it. Pure. */
function currentChunks(chunks: readonly ChunkSize[]): ChunkSize[] {
  const begun = new Map<string, number>()
  for (const { artifactId, append, seq } of chunks) if (append === 0) begun.set(artifactId, seq)
  return chunks.filter(({ artifactId, seq }) => seq >= (begun.get(artifactId) ?? 0))
}

function readChunkSizes(db: Reader, task: Task): Promise<ChunkSize[]> {
  return db.all(chunkSizes, { taskId: task.id, upTo: task.chunkCount })
}

function readMessageSizes(db: Reader, task: Task, limit: number): Promise<Size[]> {
  return db.all(messageSizes, {
    taskId: task.id,
    limit,
    except: task.statusMessageSeq ?? 0,
    upTo: task.messageCount,
  })
}

const seqsOf = (sizes: readonly Size[]): number[] => sizes.map(({ seq }) => seq)

/** The order in which the artifacts first appear, in chunks that were replaced since too. */
function inOrderOf(chunks: readonly ChunkSize[], artifacts: readonly A2aArtifact[]): A2aArtifact[] {
  const places = new Map<string, number>()
  for (const { artifactId } of chunks) if (!places.has(artifactId)) places.set(artifactId, places.size)
  const placeOf = ({ artifactId }: A2aArtifact): number => places.get(artifactId as string) ?? 0
  return [...artifacts].sort((one, other) => placeOf(one) - placeOf(other))
}
