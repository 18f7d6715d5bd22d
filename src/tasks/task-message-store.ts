import type { Reader, Transaction } from '../storage/database.ts'
import { ListStatement } from '../storage/list.ts'
import { limited, p, sql, statement } from '../storage/statement.ts'
import type { Encoded } from './encoded.ts'
import type { A2aMessage, Task } from './task.ts'

/** A message as it is stored: JSON. */
interface MessageRow {
  readonly message: string
}

const insert = statement<{ taskId: string; seq: number; message: string; size: number; now: number }>(
  sql`insert into task_message (task_id, seq, message, size, created_at)
  values (${p('taskId')}, ${p('seq')}, ${p('message')}, ${p('size')}, ${p('now')})`,
)
const messageAt = statement<{ taskId: string; seq: number }, MessageRow>(
  sql`select message from task_message where task_id = ${p('taskId')} and seq = ${p('seq')}`,
)
const messagesOf = statement<
  { taskId: string; limit: number; except: number; upTo: number },
  MessageRow
>(sql`select message from task_message
  where task_id = ${p('taskId')} and seq <= ${p('upTo')} and seq <> ${p('except')} order by seq desc ${limited}`)
const messagesAt = new ListStatement<{ taskId: string }, MessageRow & { seq: number }>(
  (seqs) => sql`select seq, message from task_message where task_id = ${p('taskId')} and seq in (${seqs})`,
)

/** Stores a message as number `seq` of its task. The task's row counts it: `updateMessageCount`, `moveTaskRow`. */
export async function insertTaskMessage(
  tx: Transaction,
  taskId: string,
  seq: number,
  { text, size }: Encoded,
): Promise<void> {
  await tx.run(insert, { taskId, seq, message: text, size, now: tx.now })
}

export async function readTaskMessage(db: Reader, taskId: string, seq: number): Promise<A2aMessage | null> {
  const row = await db.get(messageAt, { taskId, seq })
  return row ? messageOf(row) : null
}

/** The messages of a task with these numbers, the oldest first. */
export async function readMessagesAt(db: Reader, taskId: string, seqs: readonly number[]): Promise<A2aMessage[]> {
  const rows = await messagesAt.all(db, { taskId }, seqs)
  return rows.sort((a, b) => a.seq - b.seq).map(messageOf)
}

const messageOf = ({ message }: MessageRow): A2aMessage => JSON.parse(message) as A2aMessage

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
  return rows.reverse().map(messageOf)
}
