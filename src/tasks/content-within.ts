import type { Reader } from '../storage/database.ts'
import { ListStatement } from '../storage/list.ts'
import { limited, p, sql, statement } from '../storage/statement.ts'
import { assembleArtifacts } from './artifact.ts'
import { type ChunkRow, chunkFromRow } from './artifact-store.ts'
import type { A2aArtifact, A2aMessage, Omitted, Task } from './task.ts'
import { readHistory, readTaskMessage } from './task-message-store.ts'

interface Size {
  readonly seq: number
  readonly size: number
}
interface PieceSize extends Size {
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
const pieceSizes = statement<{ taskId: string; upTo: number }, PieceSize>(
  sql`select seq, artifact_id as "artifactId", append, coalesce(size, octet_length(artifact)) as "size" from task_chunk
  where task_id = ${p('taskId')} and seq <= ${p('upTo')} order by seq`,
)
const chunksAt = new ListStatement<{ taskId: string }, ChunkRow & { seq: number }>(
  (seqs) => sql`select seq, artifact_id as "artifactId", append, last_chunk as "lastChunk", artifact
  from task_chunk where task_id = ${p('taskId')} and seq in (${seqs})`,
)

/** What of a task's content an answer has room for. */
export interface ContentWithin {
  readonly statusMessage: A2aMessage | null
  readonly history: A2aMessage[]
  readonly artifacts: A2aArtifact[]
  readonly omitted: Omitted
  /** What was read, as JSON in UTF-8. */
  readonly size: number
}

/**
 * The status message, then the pieces of artifacts in their order, then the newest messages, as far as `sizeMax` reaches. The
 * sizes are read first, so that what has no place is not read at all.
 * @param historyLength the newest messages that are asked for
 */
export async function readContentWithin(
  db: Reader,
  task: Task,
  { historyLength, artifacts, sizeMax }: { historyLength: number; artifacts: boolean; sizeMax: number },
): Promise<ContentWithin> {
  const room = new Room(sizeMax)
  const statusSeq = task.statusMessageSeq
  if (statusSeq !== null) room.taken = (await db.get(messageSize, { taskId: task.id, seq: statusSeq }))?.size ?? 0
  const pieces = artifacts && task.chunkCount > 0 ? currentPieces(await readPieceSizes(db, task)) : []
  const keptPieces = room.take(pieces)
  const messages = historyLength > 0 ? await readMessageSizes(db, task, historyLength) : []
  const keptMessages = room.take(messages)
  return {
    statusMessage: statusSeq === null ? null : await readTaskMessage(db, task.id, statusSeq),
    history: await readHistory(db, task, keptMessages.length),
    artifacts: await readPieces(db, task, keptPieces),
    omitted: {
      messages: messages.length - keptMessages.length,
      artifactPieces: pieces.length - keptPieces.length,
    },
    size: room.taken,
  }
}

/** Counts what an answer takes up. */
class Room {
  taken = 0
  readonly #max: number

  constructor(max: number) {
    this.#max = max
  }

  /** The first of them that have room together. */
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

/** Those that an artifact still consists of: starting it anew does away with what was there before. Pure. */
function currentPieces(pieces: readonly PieceSize[]): PieceSize[] {
  const begun = new Map<string, number>()
  for (const { artifactId, append, seq } of pieces) if (append === 0) begun.set(artifactId, seq)
  return pieces.filter(({ artifactId, seq }) => seq >= (begun.get(artifactId) ?? 0))
}

function readPieceSizes(db: Reader, task: Task): Promise<PieceSize[]> {
  return db.all(pieceSizes, { taskId: task.id, upTo: task.chunkCount })
}

function readMessageSizes(db: Reader, task: Task, limit: number): Promise<Size[]> {
  return db.all(messageSizes, {
    taskId: task.id,
    limit,
    except: task.statusMessageSeq ?? 0,
    upTo: task.messageCount,
  })
}

async function readPieces(db: Reader, task: Task, pieces: readonly Size[]): Promise<A2aArtifact[]> {
  const seqs = pieces.map(({ seq }) => seq)
  const rows = await chunksAt.all(db, { taskId: task.id }, seqs)
  return assembleArtifacts(rows.sort((a, b) => a.seq - b.seq).map(chunkFromRow))
}
