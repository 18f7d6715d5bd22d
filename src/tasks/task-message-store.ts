import type { Reader, Transaction } from '../storage/database.ts'
import { ListStatement } from '../storage/list.ts'
import { limited, p, sql, statement } from '../storage/statement.ts'
import type { EncodedMessage } from './encoded.ts'
import { readPieces } from './message-pieces.ts'
import type { A2aMessage, Task } from './task.ts'

/** A message as it is stored, or the end of it and the id of the pieces before that. */
export interface MessageRow {
  readonly message: string
  readonly piecesId: string | null
}

const insert = statement<{
  taskId: string
  seq: number
  message: EncodedMessage['text']
  size: number
  piecesId: string | null
  now: number
}>(
  // The bytes of a large text become a text.
  sql`insert into task_message (task_id, seq, message, size, pieces_id, created_at)
  values (${p('taskId')}, ${p('seq')}, cast(${p('message')} as text), ${p('size')}, ${p('piecesId')}, ${p('now')})`,
)
const messageAt = statement<{ taskId: string; seq: number }, MessageRow>(
  sql`select message, pieces_id as "piecesId" from task_message where task_id = ${p('taskId')} and seq = ${p('seq')}`,
)
const messagesOf = statement<
  { taskId: string; limit: number; except: number; upTo: number },
  MessageRow
>(sql`select message, pieces_id as "piecesId" from task_message
  where task_id = ${p('taskId')} and seq <= ${p('upTo')} and seq <> ${p('except')} order by seq desc ${limited}`)
const messagesAt = new ListStatement<{ taskId: string }, MessageRow & { seq: number }>(
  (seqs) =>
    sql`select seq, message, pieces_id as "piecesId" from task_message where task_id = ${p('taskId')} and seq in (${seqs})`,
)

/** Stores a message as number `seq` of its task, once `takePieces` has taken its pieces. The task's row counts it: `updateMessageCount`, `moveTaskRow`. */
export async function insertTaskMessage(
  tx: Transaction,
  taskId: string,
  seq: number,
  { text, size, pieces }: EncodedMessage,
): Promise<void> {
  await tx.run(insert, { taskId, seq, message: text, size, piecesId: pieces?.id ?? null, now: tx.now })
}

export async function readTaskMessage(db: Reader, taskId: string, seq: number): Promise<A2aMessage | null> {
  const row = await db.get(messageAt, { taskId, seq })
  return row ? messageOf(db, row) : null
}

/** The messages of a task with these numbers, the oldest first. Their texts are read by `textOf`. */
export async function readMessageRows(db: Reader, taskId: string, seqs: readonly number[]): Promise<MessageRow[]> {
  const rows = await messagesAt.all(db, { taskId }, seqs)
  return rows.sort((a, b) => a.seq - b.seq)
}

/**
 * Returns the whole text of a message, as JSON. The pieces of a large one are read over several iterations of the event loop: in slices of
 * `by`.
 */
export async function textOf(db: Reader, { message, piecesId }: MessageRow, by: string): Promise<string> {
  return piecesId === null ? message : (await readPieces(db, piecesId, by)) + message
}

async function messageOf(db: Reader, row: MessageRow): Promise<A2aMessage> {
  return JSON.parse(await textOf(db, row, '')) as A2aMessage
}

/**
 * The newest `limit` messages of this state of the task, oldest first: without the current status message, and without those
 * that were added later.
 */
export async function readHistory(db: Reader, task: Task, limit: number): Promise<A2aMessage[]> {
  if (limit <= 0) return []
  const rows = await db.all(messagesOf, {
    taskId: task.id,
    limit,
    except: task.statusMessageSeq ?? 0,
    upTo: task.messageCount,
  })
  return Promise.all(rows.reverse().map((row) => messageOf(db, row)))
}
