import type { Reader, Transaction } from '../storage/database.ts'
import { ListStatement } from '../storage/list.ts'
import { limited, p, sql, statement } from '../storage/statement.ts'
import type { EncodedMessage } from './encoded.ts'
import type { A2aMessage, Task } from './task.ts'

const insert = statement<{ taskId: string; seq: number; message: EncodedMessage['text']; size: number; now: number }>(
  // The bytes of a large text become a text.
  sql`insert into task_message (task_id, seq, message, size, created_at)
  values (${p('taskId')}, ${p('seq')}, cast(${p('message')} as text), ${p('size')}, ${p('now')})`,
)
const messageAt = statement<{ taskId: string; seq: number }, { message: string }>(
  sql`select message from task_message where task_id = ${p('taskId')} and seq = ${p('seq')}`,
)
const messagesOf = statement<
  { taskId: string; limit: number; except: number; upTo: number },
  { message: string }
>(sql`select message from task_message
  where task_id = ${p('taskId')} and seq <= ${p('upTo')} and seq <> ${p('except')} order by seq desc ${limited}`)
const messagesAt = new ListStatement<{ taskId: string }, { seq: number; message: string }>(
  (seqs) => sql`select seq, message from task_message where task_id = ${p('taskId')} and seq in (${seqs})`,
)

/** Stores a message as number `seq` of its task. The task's row counts it: `updateMessageCount`, `moveTaskRow`. */
export async function insertTaskMessage(
  tx: Transaction,
  taskId: string,
  seq: number,
  { text, size }: EncodedMessage,
): Promise<void> {
  await tx.run(insert, { taskId, seq, message: text, size, now: tx.now })
}

export async function readTaskMessage(db: Reader, taskId: string, seq: number): Promise<A2aMessage | null> {
  const row = await db.get(messageAt, { taskId, seq })
  return row ? (JSON.parse(row.message) as A2aMessage) : null
}

/** The messages of a task with these numbers as they are stored, as JSON, the oldest first. */
export async function readMessageTexts(db: Reader, taskId: string, seqs: readonly number[]): Promise<string[]> {
  const rows = await messagesAt.all(db, { taskId }, seqs)
  return rows.sort((a, b) => a.seq - b.seq).map(({ message }) => message)
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
  return rows.reverse().map((row) => JSON.parse(row.message) as A2aMessage)
}
