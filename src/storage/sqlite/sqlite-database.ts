import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import type { Clock } from '../../lib/clock.ts'
import type { Database, Transaction } from '../database.ts'
import { migrate } from '../migrate.ts'
import type { Statement } from '../statement.ts'
import { Connection } from './connection.ts'
import { GroupCommit } from './group-commit.ts'

/**
 * The embedded store: `rouse.db` in the data directory, one writing connection behind the group commit and one
 * reading connection, so that a long read never waits for a commit.
 */
export class SqliteDatabase implements Database {
  readonly #writer: Connection
  readonly #reader: Connection
  readonly #commits: GroupCommit
  readonly #unlock: () => void
  #closing: Promise<void> | undefined

  private constructor(directory: string, clock: Clock) {
    this.#unlock = lockDirectory(directory)
    try {
      const path = join(directory, 'rouse.db')
      this.#writer = new Connection(path, { readonly: false })
      migrate(this.#writer.raw, clock.now())
      this.#reader = new Connection(path, { readonly: true })
      this.#commits = new GroupCommit(this.#writer, clock)
    } catch (error) {
      this.#unlock()
      throw error
    }
  }

  /** Opens or creates the store and brings its schema up to this build. */
  static open(directory: string, clock: Clock): SqliteDatabase {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    return new SqliteDatabase(directory, clock)
  }

  async all<Params extends object, Row>(statement: Statement<Params, Row>, params: Params): Promise<Row[]> {
    return this.#reader.all(statement, params)
  }

  async get<Params extends object, Row>(statement: Statement<Params, Row>, params: Params): Promise<Row | undefined> {
    return this.#reader.get(statement, params)
  }

  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.#commits.transaction(work)
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    await this.#commits.close()
    this.#reader.close()
    this.#writer.close()
    this.#unlock()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

/**
 * One gateway per data directory. The lock is SQLite's own file lock on a file beside the store, held for the life of
 * the process: the system frees it however the process ends, so nothing stale is ever left to clean up.
 */
function lockDirectory(directory: string): () => void {
  const lock = new Sqlite(join(directory, 'rouse.lock'), { timeout: 0 })
  try {
    lock.pragma('journal_mode = DELETE')
    lock.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    lock.close()
    throw new Error(
      `Another gateway is running on ${directory}. Stop it, give this one a data directory of its own (ROUSE_DATA_DIR), or move both to PostgreSQL.`,
      { cause: error },
    )
  }
  return () => lock.close()
}
