import { Problem } from '../errors.ts'
import { companyLimits } from '../gateway-limits.ts'
import { groupsOf, Pauses } from '../lib/pauses.ts'
import type { Reader } from '../storage/database.ts'
import { ListStatement } from '../storage/list.ts'
import { limited, p, sql, statement } from '../storage/statement.ts'
import { assembleArtifacts, type Chunk } from './artifact.ts'
import { type ChunkRow, chunkFromRow } from './artifact-store.ts'
import type { A2aArtifact, A2aMessage, Omitted, Task } from './task.ts'
import { readMessageRows, readTaskMessage, textOf } from './task-message-store.ts'

interface Size {
  readonly seq: number
  readonly size: number
}
interface ChunkSize extends Size {
  readonly artifactId: string
  readonly append: number
}

const messageSizes = statement<{ taskId: string; limit: number; except: number; upTo: number }, Size>(
  sql`select seq, coalesce(size, octet_length(message)) as "size" from task_message
  where task_id = ${p('taskId')} and seq <= ${p('upTo')} and seq <> ${p('except')} order by seq desc ${limited}`,
)
const messageSize = statement<{ taskId: string; seq: number }, Size>(
  sql`select seq, coalesce(size, octet_length(message)) as "size" from task_message where task_id = ${p('taskId')} and seq = ${p('seq')}`,
)
const chunkSizes = statement<{ taskId: string; upTo: number }, ChunkSize>(
  sql`select seq, artifact_id as "artifactId", append, coalesce(size, octet_length(artifact)) as "size" from task_chunk
  where task_id = ${p('taskId')} and seq <= ${p('upTo')} order by seq`,
)
const chunksAt = new ListStatement<{ taskId: string }, ChunkRow & { seq: number }>(
  (seqs) => sql`select seq, artifact_id as "artifactId", append, last_chunk as "lastChunk", artifact
  from task_chunk where task_id = ${p('taskId')} and seq in (${seqs})`,
)

/** Called with the size of content, in bytes, before it is read, or before an answer is made of it. It may wait, or refuse with a problem. */
export interface BeginReading {
  (bytes: number): Promise<void>
  /** The id of the caller that the content is read for, which takes its turn with other callers; default: the gateway itself. */
  readonly by?: string
}

/** Returns the function that a call of a caller with this id calls before it reads content. */
export function readingBy(by: string, begin: (bytes: number) => Promise<void>): BeginReading {
  return Object.assign(begin, { by })
}

/** How the content of an answer may be read. */
export interface AnswerReading {
  readonly beginReading?: BeginReading | undefined
  /**
   * The answer is given in any case, because what it is about is stored. Where `beginReading` refuses, its content is left out and
   * counted.
   */
  readonly isCertain?: boolean | undefined
}

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
  readonly statusSize: number
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
 * are read first, and then only what fits, over several iterations of the event loop. Errors: those of `beginReading`, unless the answer is
 * certain.
 */
export async function readContentWithin(
  db: Reader,
  task: Task,
  { beginReading, isCertain, ...query }: ContentQuery & AnswerReading,
): Promise<ContentWithin> {
  const plan = await planContent(db, task, query)
  if (await mayRead({ beginReading, isCertain }, plan.size)) return readPlanned(db, task, plan, beginReading?.by)
  const { statusSize, omitted, messages, chunks } = plan
  const statusSeq = task.statusMessageSeq
  const isShown = statusSeq !== null && statusSize <= companyLimits.largeBytes.max
  return {
    statusMessage: isShown ? await readTaskMessage(db, task.id, statusSeq) : null,
    history: [],
    artifacts: [],
    omitted: {
      messages: omitted.messages + messages.length + (statusSeq === null || isShown ? 0 : 1),
      artifactPieces: omitted.artifactPieces + chunks.length,
    },
  }
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
  return { statusSize, all, chunks, messages, omitted, size: room.taken }
}

/** Reads what was planned, over several iterations of the event loop. */
export async function readPlanned(
  db: Reader,
  task: Task,
  { all, chunks, messages, omitted }: ContentPlan,
  by = '',
): Promise<ContentWithin> {
  const statusSeq = task.statusMessageSeq
  return {
    statusMessage: statusSeq === null ? null : await readTaskMessage(db, task.id, statusSeq),
    history: await readMessages(db, task, messages, by),
    artifacts: inOrderOf(all, await readChunks(db, task, chunks, by)),
    omitted,
  }
}

/** The bytes of a task's status message; 0: it has none. */
export async function statusMessageSize(db: Reader, { id, statusMessageSeq: seq }: Task): Promise<number> {
  return seq === null ? 0 : ((await db.get(messageSize, { taskId: id, seq }))?.size ?? 0)
}

/** False: the content is left out of an answer that is certain. Errors: those of `beginReading`. */
export async function mayRead({ beginReading, isCertain }: AnswerReading, bytes: number): Promise<boolean> {
  try {
    await beginReading?.(bytes)
    return true
  } catch (error) {
    if (isCertain && error instanceof Problem && error.code === 'rate-limited') return false
    throw error
  }
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

async function readChunks(db: Reader, task: Task, chunks: readonly Size[], by: string): Promise<A2aArtifact[]> {
  const pauses = new Pauses(by)
  const read: Chunk[] = []
  for (const group of groupsOf(chunks)) {
    await pauses.before(bytesOf(group))
    const rows = await chunksAt.all(db, { taskId: task.id }, seqsOf(group))
    // What is read in one slice is parsed in another one.
    for (const row of rows.sort((a, b) => a.seq - b.seq)) {
      await pauses.before(row.artifact.length)
      read.push(chunkFromRow(row))
    }
  }
  return assembleArtifacts(read)
}

/** Oldest first. */
async function readMessages(db: Reader, task: Task, messages: readonly Size[], by: string): Promise<A2aMessage[]> {
  const pauses = new Pauses(by)
  const read: A2aMessage[] = []
  for (const group of groupsOf(messages.toReversed())) {
    await pauses.before(bytesOf(group))
    for (const row of await readMessageRows(db, task.id, seqsOf(group))) {
      const text = await textOf(db, row, by)
      await pauses.before(text.length)
      read.push(JSON.parse(text) as A2aMessage)
    }
  }
  return read
}

const seqsOf = (sizes: readonly Size[]): number[] => sizes.map(({ seq }) => seq)
const bytesOf = (sizes: readonly Size[]): number => sizes.reduce((sum, { size }) => sum + size, 0)

/** The order in which the artifacts first appear, in chunks that were replaced since too. */
function inOrderOf(chunks: readonly ChunkSize[], artifacts: readonly A2aArtifact[]): A2aArtifact[] {
  const places = new Map<string, number>()
  for (const { artifactId } of chunks) if (!places.has(artifactId)) places.set(artifactId, places.size)
  const placeOf = ({ artifactId }: A2aArtifact): number => places.get(artifactId as string) ?? 0
  return [...artifacts].sort((one, other) => placeOf(one) - placeOf(other))
}
