import type { Reader, Transaction } from '../storage/database.ts'
import { ListStatement } from '../storage/list.ts'
import { limited, p, sql, statement } from '../storage/statement.ts'
import type { EncodedPart } from './encoded.ts'
import type { A2aMessage, Task } from './task.ts'

/** A message as it is stored: JSON. */
interface MessageRow {
  readonly message: string
}

const insert = statement<{ taskId: string; seq: number; message: string; size: number; now: number }>(
  sql`insert into task_message (task_id, seq, message, size, created_at)
  values (${p('taskId')}, ${p('seq')}, ${p('message')}, ${p('size')}, ${p('now')})`,
)

/** The bytes of a first message that is stored in the row of its task, which every move of the task writes again. */
const shortMax = 1_024

/**
 * The messages of a task: its first one is in its own row where it is short, as most are; all others are rows of their own.
 * The size is in bytes, as `Encoded.size` counts them. SQLite takes the parts apart, and reads no more than a page of them, only where
 * their columns have the same affinities, and where a statement that orders by `seq` also selects it.
 */
export const messagesOfTask = sql`(
  select seq, coalesce(size, octet_length(message)) as size, message from task_message where task_id = ${p('taskId')}
  union all select cast(1 as bigint), coalesce(first_size, octet_length(first_message)), first_message from task where id = ${p('taskId')} and first_message is not null) as one`

const messageAt = statement<{ taskId: string; seq: number }, MessageRow>(
  sql`select message from ${messagesOfTask} where seq = ${p('seq')}`,
)
const messagesOf = statement<
  { taskId: string; limit: number; except: number; upTo: number },
  MessageRow
>(sql`select seq, message from ${messagesOfTask}
  where seq <= ${p('upTo')} and seq <> ${p('except')} order by seq desc ${limited}`)
const messagesAt = new ListStatement<{ taskId: string }, MessageRow & { seq: number }>(
  (seqs) => sql`select seq, message from ${messagesOfTask} where seq in (${seqs})`,
)

/** True when the first message of a task is stored in the row of the task. */
export function isShort({ bytes }: EncodedPart): boolean {
  return bytes <= shortMax
}

/** Stores a message as number `seq` of its task. The task's row counts it: `updateMessageCount`, `moveTaskRow`. */
export async function insertTaskMessage(
  tx: Transaction,
  taskId: string,
  seq: number,
  { text, size }: EncodedPart,
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
