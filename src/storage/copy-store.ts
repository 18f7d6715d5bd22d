import type { NewStore } from './postgres/new-store.ts'
import type { StoppedStore } from './sqlite/stopped-store.ts'
import type { SqlValue } from './statement.ts'
import type { LogHead, Table, TableRow } from './table.ts'

/** The size of a batch: so many rows or so much text, whichever comes first. */
const batchRows = 2_000
const batchCharacters = 4_000_000

/** A row that is added to those of the source. */
interface ExtraRow {
  readonly table: string
  readonly values: Readonly<Record<string, SqlValue>>
}

interface CopyOptions {
  readonly extra?: readonly ExtraRow[]
  /** Called for every batch: how many rows of all tables are copied, and how many there are. */
  readonly progress?: (done: number, total: number) => void
  readonly signal?: AbortSignal
}

/** The rows that were copied and then verified in the target. */
export interface Copy {
  readonly tables: readonly { readonly name: string; readonly rows: number }[]
  readonly logHeads: readonly LogHead[]
  /** Texts with a NUL, which PostgreSQL cannot store: it became U+FFFD. */
  readonly textsMended: number
}

/**
 * Copies every table of one store into another, empty one. The tables and columns come from the two schemas.
 * Rejects, with the target empty, when the schemas differ, when the target holds data, when the signal aborts, and when the
 * target does not hold the same as the source at the end.
 */
export async function copyStore(source: StoppedStore, target: NewStore, options: CopyOptions = {}): Promise<Copy> {
  const tables = source.tables()
  requireSameSchema(tables, await target.tables())
  try {
    await target.begin(tables)
    const copy = await copyTables(source, target, tables, options)
    options.signal?.throwIfAborted()
    await target.commit()
    return copy
  } catch (error) {
    await target.rollBack()
    throw error
  }
}

async function copyTables(
  source: StoppedStore,
  target: NewStore,
  tables: readonly Table[],
  { extra = [], progress, signal }: CopyOptions,
): Promise<Copy> {
  const copied: { name: string; rows: number }[] = []
  const nuls = { texts: 0 }
  const total = progress ? tables.reduce((sum, { name }) => sum + source.count(name), extra.length) : 0
  let done = 0
  for (const table of tables) {
    let rows = 0
    const more = extra.filter((row) => row.table === table.name)
    for (const batch of batches(concat(source.rows(table), extraRows(table, more)))) {
      signal?.throwIfAborted()
      await insert(target, table, batch, nuls)
      rows += batch.length
      done += batch.length
      progress?.(done, total)
    }
    copied.push({ name: table.name, rows })
  }
  return { tables: copied, logHeads: await requireSameContents(source, target, copied), textsMended: nuls.texts }
}

function requireSameSchema(from: readonly Table[], to: readonly Table[]): void {
  const names = (tables: readonly Table[]) =>
    new Set(tables.flatMap(({ name, columns }) => columns.map((column) => `${name}.${column}`)))
  const [inSource, inTarget] = [names(from), names(to)]
  const missingIn = (names: Set<string>, others: Set<string>) => [...others].filter((name) => !names.has(name))
  const differing = [...missingIn(inSource, inTarget), ...missingIn(inTarget, inSource)]
  if (differing.length === 0) return
  throw new Error(
    `The target's schema is not the source's: ${differing.slice(0, 10).join(', ')}. Give it a database of its own, which nobody else uses.`,
  )
}

async function requireSameContents(
  source: StoppedStore,
  target: NewStore,
  copied: readonly { name: string; rows: number }[],
): Promise<LogHead[]> {
  const wrong: string[] = []
  for (const { name, rows } of copied) {
    const found = await target.count(name)
    if (found !== rows) wrong.push(`${name} has ${found} rows instead of ${rows}`)
  }
  const [expected, heads] = [source.logHeads(), await target.logHeads()]
  for (const { projectId, logHead, newestLogId } of expected) {
    const found = heads.find((head) => head.projectId === projectId)
    if (found?.logHead === logHead && found.newestLogId === newestLogId) continue
    wrong.push(
      `the log of ${projectId} ends at ${found?.logHead} (${found?.newestLogId}) instead of ${logHead} (${newestLogId})`,
    )
  }
  if (wrong.length === 0) return heads
  throw new Error(`The copy is not the source, and was taken back: ${wrong.join('; ')}.`)
}

async function insert(target: NewStore, table: Table, rows: TableRow[], nuls: { texts: number }): Promise<void> {
  const mended = rows.map((row) =>
    row.some(hasNul) ? row.map((value) => (hasNul(value) ? mend(value, nuls) : value)) : row,
  )
  try {
    await target.insert(table, mended)
  } catch (error) {
    throw new Error(`A row of ${table.name} could not be copied: ${(error as Error).message}.`, { cause: error })
  }
}

function hasNul(value: SqlValue): value is string {
  return typeof value === 'string' && value.includes('\0')
}

function mend(text: string, nuls: { texts: number }): string {
  nuls.texts++
  return text.replaceAll('\0', '\ufffd')
}

function* batches(rows: Iterable<TableRow>): Generator<TableRow[]> {
  let batch: TableRow[] = []
  let characters = 0
  for (const row of rows) {
    batch.push(row)
    for (const value of row) characters += typeof value === 'string' ? value.length : 8
    if (batch.length < batchRows && characters < batchCharacters) continue
    yield batch
    batch = []
    characters = 0
  }
  if (batch.length > 0) yield batch
}

function* concat<Item>(...lists: Iterable<Item>[]): Generator<Item> {
  for (const list of lists) yield* list
}

function extraRows({ columns }: Table, rows: readonly ExtraRow[]): TableRow[] {
  return rows.map(({ values }) => columns.map((column) => values[column] ?? null))
}
