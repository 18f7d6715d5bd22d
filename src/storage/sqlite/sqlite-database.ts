import { closeSync, fdatasync, fdatasyncSync, mkdirSync, openSync } from 'node:fs'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Problem } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import { newUuid } from '../../lib/ids.ts'
import { type Logger, silentLogger } from '../../logger/logger.ts'
import { inCall } from '../as-call.ts'
import type { Database, NoteCommit, Transaction } from '../database.ts'
import type { Statement } from '../statement.ts'
import { Checkpoints } from './checkpoints/checkpoints.ts'
import { Connection } from './connection.ts'
import { lockFile } from './file-lock.ts'
import { afterFlush, flushesHere, unknownPace } from './flush-thread.ts'
import { GroupCommit } from './group-commit.ts'
import { migrate } from './migrate.ts'
import { RememberedRows } from './remembered-rows.ts'
import { storageProblem } from './storage-problem.ts'

const sync = promisify(fdatasync)

/**
 * The store's write-ahead log as a file. SQLite writes a commit into it; this class forces it to the disk: at once while the disk is
 * quick, and on another thread while it is not, when the next group of writers runs meanwhile.
 */
export class WalFile {
  readonly #fd: number
  readonly #now: () => number
  #pace = unknownPace

  /** Opens the file. The store must be open in WAL mode and have been written to: SQLite keeps the same file until its last connection closes. */
  constructor(storePath: string, now = () => performance.now()) {
    this.#fd = openSync(`${storePath}-wal`, 'r+')
    this.#now = now
  }

  /** Resolves when every commit that was made before this call survives a power cut. Rejects, and never throws at once, when the disk fails. */
  async flush(): Promise<void> {
    const startedAt = this.#now()
    const isHere = flushesHere(this.#pace, startedAt)
    if (isHere) fdatasyncSync(this.#fd)
    else await sync(this.#fd)
    this.#pace = afterFlush(this.#pace, isHere, startedAt, this.#now())
  }

  close(): void {
    closeSync(this.#fd)
  }
}

/**
 * The embedded store: `rouse.db` in the data directory. One connection writes, through the group commit. While its transaction is
 * open another one reads, which sees the last commit.
 */
export class SqliteDatabase implements Database {
  readonly isRemote = false
  readonly #path: string
  readonly #writer: Connection
  readonly #reader: Connection
  readonly #wal: WalFile
  readonly #checkpoints: Checkpoints
  readonly #commits: GroupCommit
  readonly #remembered: RememberedRows
  readonly #unlock: () => void
  #closing: Promise<void> | undefined

  private constructor(
    path: string,
    writer: Connection,
    clock: Clock,
    log: Logger,
    unlock: () => void,
    noteCommit?: NoteCommit,
  ) {
    this.#path = path
    this.#writer = writer
    this.#reader = new Connection(path, { readonly: true })
    this.#wal = new WalFile(path)
    this.#checkpoints = new Checkpoints(writer, clock)
    this.#commits = new GroupCommit(writer, this.#wal, clock, this.#checkpoints, log, noteCommit)
    this.#remembered = new RememberedRows(writer)
    this.#unlock = unlock
  }

  /** Opens or creates the store and migrates its schema. */
  static open(directory: string, clock: Clock, log = silentLogger, noteCommit?: NoteCommit): SqliteDatabase {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    const unlock = lockDirectory(directory)
    let writer: Connection | undefined
    try {
      const path = join(directory, 'rouse.db')
      createPrivately(path)
      writer = new Connection(path, { readonly: false })
      migrate(writer.raw, clock.now())
      return new SqliteDatabase(path, writer, clock, log, unlock, noteCommit)
    } catch (error) {
      writer?.close()
      unlock()
      throw error
    }
  }

  async all<Params extends object, Row>(statement: Statement<Params, Row>, params: Params): Promise<Row[]> {
    return this.#onceDurable(translated(() => this.#open().all(statement, params)))
  }

  async get<Params extends object, Row>(statement: Statement<Params, Row>, params: Params): Promise<Row | undefined> {
    return this.#onceDurable(translated(() => this.#get(statement, params)))
  }

  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return inCall(work, (joined) => this.#commits.transaction(joined))
  }

  async size(): Promise<number> {
    const sizes = await Promise.all([stat(this.#path), stat(`${this.#path}-wal`)])
    return sizes.reduce((sum, { size }) => sum + size, 0)
  }

  /** The file itself, which a copy is not, and a mark beside it of the last start, which a file that was written over does not have. */
  async place(): Promise<{ was: string; is: string }> {
    const { ino, birthtimeNs } = await stat(this.#path, { bigint: true })
    const path = `${this.#path}-mark`
    const mark = await readFile(path, 'utf8').catch(() => '')
    const next = newUuid()
    await writeFile(path, next, { mode: 0o600 })
    const file = `sqlite:${ino}.${birthtimeNs}`
    return { was: mark && `${file}.${mark}`, is: `${file}.${next}` }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  /** A read may see a commit that is not on the disk yet: its result is returned only once the commit is durable. */
  async #onceDurable<T>(rows: T): Promise<T> {
    await this.#commits.flushing
    return rows
  }

  #get<Params extends object, Row>(statement: Statement<Params, Row>, params: Params): Row | undefined {
    const connection = this.#open()
    if (!statement.isRemembered) return connection.get(statement, params)
    return this.#remembered.get(statement, params, () => connection.get(statement, params))
  }

  /** A request that is still running when the store closes gets an error. */
  #open(): Connection {
    if (!this.#reader.raw.open) throw new Problem('storage-unavailable', { detail: 'The store is closed.' })
    // After a commit the reader has to read its pages from the file again; the writer has them in memory.
    return this.#writer.raw.inTransaction ? this.#reader : this.#writer
  }

  async #close(): Promise<void> {
    await this.#commits.close()
    await this.#checkpoints.close()
    this.#wal.close()
    this.#reader.close()
    this.#writer.close()
    this.#checkpoints.closeFile()
    this.#unlock()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

function translated<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw storageProblem(error, '')
  }
}

/** Only the owner may read the store. SQLite gives its other files the mode of the store. */
function createPrivately(path: string): void {
  closeSync(openSync(path, 'a', 0o600))
}

/** Locks the data directory for one gateway. */
function lockDirectory(directory: string): () => void {
  const unlock = lockFile(join(directory, 'rouse.lock'))
  if (unlock) return unlock
  throw new Error(
    `Another gateway is running on ${directory}, or another command works on its store. Stop it, or name another data directory (ROUSE_DATA_DIR).`,
  )
}
