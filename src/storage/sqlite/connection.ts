import type Sqlite from 'better-sqlite3'
import { SQLiteSyncDialect } from 'drizzle-orm/sqlite-core'
import { type Binding, bindingOf, bindValues } from '../bind.ts'
import { rareTables, type Statement } from '../statement.ts'
import { openSqlite } from './engine.ts'

/**
 * Writes each parameter as `+?`. The plan of a statement may depend on the value of a bare `?`: in a `limit`, and in many statements with an
 * `order by`. Then SQLite plans it again at each execution, which often takes longer than the statement. It does not look at a value behind a `+`.
 */
class Dialect extends SQLiteSyncDialect {
  override escapeParam(): string {
    return '+?'
  }
}

const dialect = new Dialect()
const queries = new WeakMap<Statement, ReturnType<typeof dialect.sqlToQuery>>()

/** The text of a statement is the same on each connection. */
function queryOf(statement: Statement) {
  const known = queries.get(statement)
  if (known) return known
  const query = dialect.sqlToQuery(statement.sql)
  queries.set(statement, query)
  return query
}

interface Prepared {
  readonly statement: Sqlite.Statement<unknown[]>
  readonly binding: Binding
  readonly isReadOnly: boolean
  /** True when it may change a table that seldom changes. */
  readonly isRareWrite: boolean
}

/** A statement that begins with the plain name of the table that it changes. */
const target = /^\s*(?:insert(?: or \w+)? into|replace into|update(?: or \w+)?|delete from)\s+(\w+)(?![\w.])/i
/** Every message moves the head of a log, which no remembered row has. */
const movesLog = /^\s*update project set log_(?:head|tail) = [^,]+ where /i

/** One better-sqlite3 connection with its prepared statements. */
export class Connection {
  readonly raw: Sqlite.Database
  readonly #prepared = new WeakMap<Statement, Prepared>()
  #changes = 0
  #rareWrites = 0

  constructor(path: string, options: { readonly: boolean }) {
    this.raw = openSqlite(path, { readonly: options.readonly, timeout: 5_000 })
    this.raw.pragma('foreign_keys = ON')
    // KB. A page that is not in it is usually in the file cache of the system and costs a microsecond.
    this.raw.pragma(`cache_size = -${options.readonly ? 8_000 : 16_000}`)
    if (options.readonly) return
    this.raw.pragma('journal_mode = WAL')
    // Savepoint journals stay in memory; by default SQLite writes them to a file.
    this.raw.pragma('temp_store = MEMORY')
    // NORMAL orders what a checkpoint writes. The group commit itself forces each commit to the disk before it is reported, as
    // FULL would, but without blocking the thread.
    this.raw.pragma('synchronous = NORMAL')
    // Checkpoints are made earlier, on a thread of their own. This is for when they cannot be made there: at 64 MB of log.
    this.raw.pragma('wal_autocheckpoint = 16000')
  }

  /** Prepares a statement without parameters and rows, such as BEGIN or SAVEPOINT. */
  control(text: string): () => void {
    const prepared = this.raw.prepare(text)
    return () => void prepared.run()
  }

  /** Grows with every statement that has changed a row, or could have. */
  get changes(): number {
    return this.#changes
  }

  /** Grows with every statement that may have changed a row of `rareTables`, other than the head of the log. */
  get rareWrites(): number {
    return this.#rareWrites
  }

  all<Params extends object, Row>(statement: Statement<Params, Row>, params: Params): Row[] {
    const prepared = this.#prepare(statement as Statement)
    const rows = prepared.statement.all(...bindValues(prepared.binding, params)) as Row[]
    this.#note(prepared)
    return rows
  }

  get<Params extends object, Row>(statement: Statement<Params, Row>, params: Params): Row | undefined {
    const prepared = this.#prepare(statement as Statement)
    const row = prepared.statement.get(...bindValues(prepared.binding, params)) as Row | undefined
    this.#note(prepared)
    return row
  }

  run<Params extends object>(statement: Statement<Params, unknown>, params: Params): number {
    const prepared = this.#prepare(statement as Statement)
    const { changes } = prepared.statement.run(...bindValues(prepared.binding, params))
    if (changes > 0) this.#note(prepared)
    return changes
  }

  close(): void {
    this.raw.close()
  }

  #note({ isReadOnly, isRareWrite }: Prepared): void {
    if (!isReadOnly) this.#changes++
    if (isRareWrite) this.#rareWrites++
  }

  #prepare(statement: Statement): Prepared {
    const known = this.#prepared.get(statement)
    if (known) return known
    const query = queryOf(statement)
    const compiled = this.raw.prepare<unknown[]>(query.sql)
    const isReadOnly = compiled.readonly
    const isRareWrite = !isReadOnly && mayChangeRareTable(query.sql)
    const prepared = { statement: compiled, binding: bindingOf(query.params), isReadOnly, isRareWrite }
    this.#prepared.set(statement, prepared)
    return prepared
  }
}

/** True also where the table is not known. */
function mayChangeRareTable(text: string): boolean {
  const table = target.exec(text)?.[1]?.toLowerCase()
  return table === undefined || (rareTables.has(table) && !movesLog.test(text))
}
