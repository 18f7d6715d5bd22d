import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type Sqlite from 'better-sqlite3'
import type { Clock } from '../../lib/clock.ts'
import type { Database } from '../database.ts'
import { type LogHead, logHeadsSql, migrationTable, type Table, type TableRow } from '../table.ts'
import { openSqlite } from './engine.ts'
import { SqliteDatabase } from './sqlite-database.ts'

/** An embedded store whose gateway is stopped, for reading all of it. While it is open no gateway can start on it. */
export class StoppedStore implements AsyncDisposable {
  readonly database: Database
  readonly #reader: Sqlite.Database

  private constructor(database: Database, path: string) {
    this.database = database
    this.#reader = openSqlite(path, { readonly: true })
  }

  /** Opens the store and migrates its schema, as a start of the gateway would. Throws when a gateway runs, or when there is no store. */
  static open(directory: string, clock: Clock): StoppedStore {
    const path = join(directory, 'rouse.db')
    if (!existsSync(path)) {
      throw new Error(
        `There is no store in ${directory}. Name the gateway's data directory (--data-dir, ROUSE_DATA_DIR).`,
      )
    }
    return new StoppedStore(SqliteDatabase.open(directory, clock), path)
  }

  tables(): Table[] {
    const names = this.#reader
      .prepare(
        "select name from sqlite_schema where type = 'table' and name <> ? and name not glob 'sqlite_*' order by name",
      )
      .pluck()
      .all(migrationTable) as string[]
    const columns = this.#reader.prepare('select name from pragma_table_info(?) order by name').pluck()
    return names.map((name) => ({ name, columns: columns.all(name) as string[] }))
  }

  /** Reads row by row: a table may be larger than memory. */
  rows({ name, columns }: Table): IterableIterator<TableRow> {
    const list = columns.map((column) => `"${column}"`).join(', ')
    return this.#reader.prepare(`select ${list} from "${name}"`).raw().iterate() as IterableIterator<TableRow>
  }

  count(table: string): number {
    return this.#reader.prepare(`select count(*) from "${table}"`).pluck().get() as number
  }

  logHeads(): LogHead[] {
    return this.#reader.prepare(logHeadsSql).all() as LogHead[]
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#reader.close()
    await this.database.close()
  }
}
