import { sizeLimits } from '../limits.ts'
import type { Reader } from '../storage/database.ts'
import { limited, p, type Statement, sql, statement } from '../storage/statement.ts'
import type { Chunk } from './artifact.ts'
import { type ChunkRow, chunkColumns, chunkFromRow } from './artifact-store.ts'
import type { A2aMessage, Task } from './task.ts'
import { messagesOfTask } from './task-message-store.ts'

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
interface Numbered {
  readonly seq: number
}

const messageSizes = statement<Range, Size>(sql`select seq, size from ${messagesOfTask}
  where seq > ${p('after')} and seq <= ${p('upTo')} order by seq ${limited}`)
const messages = statement<Range, Numbered & { message: string }>(sql`select seq, message from ${messagesOfTask}
  where seq > ${p('after')} and seq <= ${p('upTo')} order by seq ${limited}`)
const chunkSizes = statement<Range, Size>(sql`select coalesce(size, octet_length(artifact)) as "size" from task_chunk
  where task_id = ${p('taskId')} and seq > ${p('after')} and seq <= ${p('upTo')} order by seq ${limited}`)
const chunks = statement<Range, ChunkRow & Numbered>(sql`select seq, ${chunkColumns} from task_chunk
  where task_id = ${p('taskId')} and seq > ${p('after')} and seq <= ${p('upTo')} order by seq ${limited}`)

interface PageQuery {
  /** `seq` of the last item of the page before; 0: from the beginning. */
  readonly after: number
  readonly limit: number
  /** The most bytes in the page; default: as many as in an answer with one task. The first item is read whatever its size. */
  readonly sizeMax?: number | undefined
}
interface TaskPart<Item> {
  readonly items: readonly (Item & Numbered)[]
  readonly more: boolean
}

/** A page of a task's messages, oldest first. An answer with the whole task may have room for fewer. */
export function readMessagePage(db: Reader, task: Task, query: PageQuery): Promise<TaskPart<{ message: A2aMessage }>> {
  const range = { taskId: task.id, after: query.after, upTo: task.messageCount }
  return readPage(db, { sizes: messageSizes, rows: messages }, range, query, ({ seq, message }) => ({
    seq,
    message: JSON.parse(message) as A2aMessage,
  }))
}

/** A page of a task's artifact chunks, in the order in which they were added. */
export function readChunkPage(db: Reader, task: Task, query: PageQuery): Promise<TaskPart<Chunk>> {
  const range = { taskId: task.id, after: query.after, upTo: task.chunkCount }
  return readPage(db, { sizes: chunkSizes, rows: chunks }, range, query, (row) => ({
    seq: row.seq,
    ...chunkFromRow(row),
  }))
}

/** Reads the sizes first, and then only the items that fit into the page. */
async function readPage<Row, Item>(
  db: Reader,
  { sizes, rows }: { readonly sizes: Statement<Range, Size>; readonly rows: Statement<Range, Row> },
  range: Omit<Range, 'limit'>,
  { limit, sizeMax = sizeLimits.answer.max }: PageQuery,
  toItem: (row: Row) => Item & Numbered,
): Promise<TaskPart<Item>> {
  const found = await db.all(sizes, { limit: limit + 1, ...range })
  let size = 0
  let kept = 0
  for (const one of found.slice(0, limit)) {
    size += one.size
    if (kept > 0 && size > sizeMax) break
    kept++
  }
  const read = kept === 0 ? [] : await db.all(rows, { limit: kept, ...range })
  return { items: read.map(toItem), more: found.length > kept }
}
