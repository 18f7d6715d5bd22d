import { beginSlice, groupsOf, Pauses } from '../lib/pauses.ts'
import { outputLimits } from '../limits.ts'
import type { Reader } from '../storage/database.ts'
import { limited, p, type Statement, sql, statement } from '../storage/statement.ts'
import type { Chunk } from './artifact.ts'
import { type ChunkRow, chunkFromRow } from './artifact-store.ts'
import type { BeginReading } from './content-within.ts'
import type { A2aMessage, Task } from './task.ts'
import { type MessageRow, textOf } from './task-message-store.ts'

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

const messageSizes = statement<Range, Size>(sql`select coalesce(size, octet_length(message)) as "size" from task_message
  where task_id = ${p('taskId')} and seq > ${p('after')} and seq <= ${p('upTo')} order by seq ${limited}`)
const messages = statement<
  Range,
  Numbered & MessageRow
>(sql`select seq, message, pieces_id as "piecesId" from task_message
  where task_id = ${p('taskId')} and seq > ${p('after')} and seq <= ${p('upTo')} order by seq ${limited}`)
const chunkSizes = statement<Range, Size>(sql`select coalesce(size, octet_length(artifact)) as "size" from task_chunk
  where task_id = ${p('taskId')} and seq > ${p('after')} and seq <= ${p('upTo')} order by seq ${limited}`)
const chunks = statement<Range, ChunkRow & Numbered>(sql`select seq, artifact_id as "artifactId", append,
  last_chunk as "lastChunk", artifact from task_chunk
  where task_id = ${p('taskId')} and seq > ${p('after')} and seq <= ${p('upTo')} order by seq ${limited}`)

interface PageQuery {
  /** `seq` of the last item of the page before; 0: from the beginning. */
  readonly after: number
  readonly limit: number
  /** The most bytes in the page; default: as many as in an answer with one task. The first item is read whatever its size. */
  readonly sizeMax?: number | undefined
  readonly beginReading?: BeginReading | undefined
}
interface TaskPart<Item> {
  readonly items: readonly (Item & Numbered)[]
  readonly more: boolean
  /** Bytes of the items, as they are stored. */
  readonly size: number
}

/** A page of a task's messages, oldest first. An answer with the whole task may have room for fewer. Errors: those of `beginReading`. */
export function readMessagePage(db: Reader, task: Task, query: PageQuery): Promise<TaskPart<{ message: A2aMessage }>> {
  const range = { taskId: task.id, after: query.after, upTo: task.messageCount }
  const by = query.beginReading?.by ?? ''
  return readPage(db, { sizes: messageSizes, rows: messages }, range, query, async (row) => ({
    seq: row.seq,
    message: JSON.parse(await wholeText(db, row, by)),
  }))
}

/** What is read in several slices is parsed in one of its own. */
async function wholeText(db: Reader, row: MessageRow, by: string): Promise<string> {
  const text = await textOf(db, row, by)
  if (row.piecesId !== null) await beginSlice(by)
  return text
}

/** A page of a task's artifact chunks, in the order in which they were added. Errors: those of `beginReading`. */
export function readChunkPage(db: Reader, task: Task, query: PageQuery): Promise<TaskPart<Chunk>> {
  const range = { taskId: task.id, after: query.after, upTo: task.chunkCount }
  return readPage(db, { sizes: chunkSizes, rows: chunks }, range, query, (row) => ({
    seq: row.seq,
    ...chunkFromRow(row),
  }))
}

/** Reads the sizes first, and then only the items that fit into the page, over several iterations of the event loop. */
async function readPage<Row, Item>(
  db: Reader,
  { sizes, rows }: { readonly sizes: Statement<Range, Size>; readonly rows: Statement<Range, Row> },
  range: Omit<Range, 'limit'>,
  { limit, sizeMax = outputLimits.task.max, beginReading }: PageQuery,
  toItem: (row: Row) => (Item & Numbered) | Promise<Item & Numbered>,
): Promise<TaskPart<Item>> {
  const found = await db.all(sizes, { limit: limit + 1, ...range })
  const kept: Size[] = []
  let size = 0
  for (const one of found.slice(0, limit)) {
    if (kept.length > 0 && size + one.size > sizeMax) break
    size += one.size
    kept.push(one)
  }
  await beginReading?.(size)
  const pauses = new Pauses(beginReading?.by ?? '')
  const items: (Item & Numbered)[] = []
  for (const group of groupsOf(kept)) {
    await pauses.before(group.reduce((sum, one) => sum + one.size, 0))
    const read = await db.all(rows, { limit: group.length, ...range, after: items.at(-1)?.seq ?? range.after })
    // What is read in one slice is parsed in another one.
    for (const [index, row] of read.entries()) {
      await pauses.before(group[index]?.size ?? 0)
      items.push(await toItem(row))
    }
  }
  return { items, more: found.length > kept.length, size }
}
