import { outputLimits } from '../limits.ts'
import type { Reader } from '../storage/database.ts'
import { limited, p, type Statement, sql, statement } from '../storage/statement.ts'
import type { Chunk } from './artifact.ts'
import { type ChunkRow, chunkFromRow } from './artifact-store.ts'
import type { A2aMessage, Task } from './task.ts'

interface Range {
  readonly taskId: string
  /** exclusive */
  readonly after: number
  /** inclusive */
  readonly upTo: number
  readonly limit: number
}
interface Size {
  readonly size: number
}

const messageSizes = statement<Range, Size>(sql`select coalesce(size, octet_length(message)) as "size" from task_message
  where task_id = ${p('taskId')} and seq > ${p('after')} and seq <= ${p('upTo')} order by seq ${limited}`)
const messages = statement<Range, { seq: number; message: string }>(sql`select seq, message from task_message
  where task_id = ${p('taskId')} and seq > ${p('after')} and seq <= ${p('upTo')} order by seq ${limited}`)
const chunkSizes = statement<Range, Size>(sql`select coalesce(size, octet_length(artifact)) as "size" from task_chunk
  where task_id = ${p('taskId')} and seq > ${p('after')} and seq <= ${p('upTo')} order by seq ${limited}`)
const chunks = statement<Range, ChunkRow & { seq: number }>(sql`select seq, artifact_id as "artifactId", append,
  last_chunk as "lastChunk", artifact from task_chunk
  where task_id = ${p('taskId')} and seq > ${p('after')} and seq <= ${p('upTo')} order by seq ${limited}`)

interface PageQuery {
  /** `seq` of the last item of the page before; 0: from the beginning. */
  readonly after: number
  readonly limit: number
}
interface TaskPart<Item> {
  readonly items: readonly (Item & { readonly seq: number })[]
  readonly more: boolean
}

/** A page of a task's messages, oldest first. An answer with the whole task may have room for fewer. */
export async function readMessagePage(
  db: Reader,
  task: Task,
  query: PageQuery,
): Promise<TaskPart<{ message: A2aMessage }>> {
  const { rows, more } = await readPage(db, messageSizes, messages, { task, upTo: task.messageCount, ...query })
  return { items: rows.map(({ seq, message }) => ({ seq, message: JSON.parse(message) as A2aMessage })), more }
}

/** A page of a task's artifact chunks, in the order in which they were added. */
export async function readChunkPage(db: Reader, task: Task, query: PageQuery): Promise<TaskPart<Chunk>> {
  const { rows, more } = await readPage(db, chunkSizes, chunks, { task, upTo: task.chunkCount, ...query })
  return { items: rows.map((row) => ({ seq: row.seq, ...chunkFromRow(row) })), more }
}

/** Reads the sizes first, and then only the items that fit into the page. The first item is read whatever its size. */
async function readPage<Row>(
  db: Reader,
  sizes: Statement<Range, Size>,
  rows: Statement<Range, Row>,
  { task, after, upTo, limit }: PageQuery & { task: Task; upTo: number },
): Promise<{ rows: Row[]; more: boolean }> {
  const range = { taskId: task.id, after, upTo }
  const found = await db.all(sizes, { ...range, limit: limit + 1 })
  let taken = 0
  const end = found.findIndex(({ size }, index) => {
    taken += size
    return index === limit || (index > 0 && taken > outputLimits.task.max)
  })
  const count = end < 0 ? found.length : end
  return { rows: await db.all(rows, { ...range, limit: count }), more: end >= 0 }
}
