import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import type { Clock } from '../../src/lib/clock.ts'
import { inCall } from '../../src/storage/as-call.ts'
import type { Database, Transaction } from '../../src/storage/database.ts'
import { Connection } from '../../src/storage/sqlite/connection.ts'
import { GroupCommit } from '../../src/storage/sqlite/group-commit.ts'
import { RememberedRows } from '../../src/storage/sqlite/remembered-rows.ts'
import { storageProblem } from '../../src/storage/sqlite/storage-problem.ts'
import type { Statement } from '../../src/storage/statement.ts'
import { placeMigratedStore } from '../support/sqlite-template.ts'
import type { Chance } from './chance.ts'

/** Memory, where the system has such a directory: what is on the disk is decided here, and not by the disk. */
const place = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

const migrated = await (async () => {
  const directory = mkdtempSync(join(place, 'rouse-migrated-'))
  await placeMigratedStore(directory)
  const store = readFileSync(join(directory, 'rouse.db'))
  rmSync(directory, { recursive: true })
  return store
})()

type Operation = 'read' | 'write' | 'begin' | 'commit' | 'flush'

/** The faults of the disk that a history has ordered. */
interface DiskFaults {
  /** The process ends at this operation from now. */
  crashIn: number
  /** As many writes from now on find no room. */
  full: number
  /** As many flushes from now on fail: nobody knows what is on the disk. */
  failing: number
  /** As many reads outside a transaction from now on fail. */
  unreadable: number
  /** How long a flush takes, in ms. 0: it is over before anything else goes on. */
  flushMs: number
}

/** A machine's disk, with what has reached it for certain. */
export class Disk implements Disposable {
  readonly faults: DiskFaults = { crashIn: 0, full: 0, failing: 0, unreadable: 0, flushMs: 0 }
  operations = 0
  readonly #root = mkdtempSync(join(place, 'rouse-simulation-'))
  readonly #chance: Chance
  readonly #crash: () => void
  readonly #after: (ms: number, work: () => void) => void
  /** A flush has failed: the process that asked for it stores nothing any more. */
  isBroken = false
  #generation = 0
  /** How long the log is that is on the disk for certain; the rest may be there or not. */
  #durable = 0
  /** Something wrote the log back, so its length says nothing. */
  #isWhole = false

  constructor(chance: Chance, after: (ms: number, work: () => void) => void, crash: () => void) {
    this.#chance = chance
    this.#after = after
    this.#crash = crash
  }

  format(): void {
    mkdirSync(this.#directory)
    writeFileSync(this.path, migrated)
  }

  get path(): string {
    return join(this.#directory, 'rouse.db')
  }

  get #directory(): string {
    return join(this.#root, String(this.#generation))
  }

  /** Counts an operation, and does to it what the faults say. */
  tick(operation: Operation, generation: number): void {
    if (generation !== this.#generation) throw new Error('This process is gone.')
    this.operations++
    const { faults } = this
    if (faults.crashIn > 0 && --faults.crashIn === 0) {
      this.#crash()
      throw new Error('This process is gone.')
    }
    if (faults.full > 0 && (operation === 'write' || operation === 'commit')) {
      faults.full--
      this.#isWhole = true
      throw new Sqlite.SqliteError('database or disk is full', 'SQLITE_FULL')
    }
    if (faults.unreadable > 0 && operation === 'read') {
      faults.unreadable--
      throw new Sqlite.SqliteError('disk I/O error', 'SQLITE_IOERR')
    }
  }

  get generation(): number {
    return this.#generation
  }

  flush(generation: number): Promise<void> {
    this.tick('flush', generation)
    const length = this.#logLength()
    if (this.faults.failing > 0) {
      this.faults.failing--
      this.isBroken = true
      return Promise.reject(new Error('EIO: i/o error, fdatasync'))
    }
    if (this.faults.flushMs === 0) {
      this.#durable = length
      return Promise.resolve()
    }
    return new Promise((resolve) => {
      this.#after(1 + this.#chance.below(this.faults.flushMs), () => {
        if (generation !== this.#generation) return
        this.#durable = length
        resolve()
      })
    })
  }

  /** The power fails: what was flushed is there, and any part of what followed. */
  lose(): void {
    const store = readFileSync(this.path)
    const log = existsSync(`${this.path}-wal`) ? readFileSync(`${this.path}-wal`) : Buffer.alloc(0)
    const kept = this.#isWhole ? log.length : this.#durable + this.#chance.below(log.length - this.#durable + 1)
    this.#generation++
    mkdirSync(this.#directory)
    writeFileSync(this.path, store)
    writeFileSync(`${this.path}-wal`, log)
    truncateSync(`${this.path}-wal`, kept)
    this.opened(false)
  }

  /** A process has opened the store, or has closed it well. */
  opened(isWhole: boolean): void {
    Object.assign(this.faults, { crashIn: 0, full: 0, failing: 0, unreadable: 0 })
    this.#durable = 0
    this.isBroken = false
    this.#isWhole = isWhole
  }

  [Symbol.dispose](): void {
    rmSync(this.#root, { recursive: true, force: true })
  }

  #logLength(): number {
    return statSync(`${this.path}-wal`, { throwIfNoEntry: false })?.size ?? 0
  }
}

/** A connection of which each statement is an operation of the disk. */
class WatchedConnection extends Connection {
  readonly #tick: (operation: Operation) => void

  constructor(path: string, options: { readonly: boolean }, tick: (operation: Operation) => void) {
    super(path, options)
    this.raw.pragma('wal_autocheckpoint = 0')
    this.#tick = tick
  }

  override control(text: string): () => void {
    const run = super.control(text)
    if (text !== 'COMMIT') return run
    return () => {
      this.#tick('commit')
      run()
    }
  }

  override all<Params extends object, Row>(statement: Statement<Params, Row>, params: Params): Row[] {
    this.#tick(this.raw.inTransaction ? 'write' : 'begin')
    return super.all(statement, params)
  }

  override get<Params extends object, Row>(statement: Statement<Params, Row>, params: Params): Row | undefined {
    this.#tick(this.raw.inTransaction ? 'write' : 'begin')
    return super.get(statement, params)
  }

  override run<Params extends object>(statement: Statement<Params, unknown>, params: Params): number {
    this.#tick('write')
    return super.run(statement, params)
  }
}

/** The embedded store of one process: the real one, but for the thread that flushes. */
export class SimulatedStore implements Database {
  readonly isRemote: boolean
  readonly writer: WatchedConnection
  readonly #reader: WatchedConnection
  readonly #commits: GroupCommit
  readonly #remembered: RememberedRows
  readonly #tick: (operation: Operation) => void
  readonly #disk: Disk
  readonly #isServer: boolean

  /** @param isServer of several gateways */
  constructor(disk: Disk, clock: Clock, { isRemote, isServer = false }: { isRemote: boolean; isServer?: boolean }) {
    const { generation } = disk
    this.#disk = disk
    this.#isServer = isServer
    this.isRemote = isRemote
    this.#tick = (operation) => disk.tick(operation, generation)
    this.writer = new WatchedConnection(disk.path, { readonly: false }, this.#tick)
    this.#reader = new WatchedConnection(disk.path, { readonly: true }, this.#tick)
    this.#commits = new GroupCommit(this.writer, { flush: async () => disk.flush(generation) }, clock)
    this.#remembered = new RememberedRows(this.writer)
  }

  async all<Params extends object, Row>(statement: Statement<Params, Row>, params: Params): Promise<Row[]> {
    return this.#read((connection) => connection.all(statement, params))
  }

  async get<Params extends object, Row>(statement: Statement<Params, Row>, params: Params): Promise<Row | undefined> {
    if (!statement.isRemembered || this.#isServer) return this.#read((connection) => connection.get(statement, params))
    return this.#read((connection) => this.#remembered.get(statement, params, () => connection.get(statement, params)))
  }

  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return inCall(work, (joined) => this.serve(joined))
  }

  /** Runs a transaction that is part of nobody's call here. */
  serve<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.#commits.transaction(work)
  }

  /** Reads the last commit beside the gateway. */
  peek(text: string, ...values: (string | number)[]): Record<string, string | number | null>[] {
    return this.#reader.raw.prepare(text).all(...values) as Record<string, string | number | null>[]
  }

  async size(): Promise<number> {
    return 0
  }

  async place(): Promise<{ was: string; is: string }> {
    return { was: '', is: '' }
  }

  async close(): Promise<void> {
    await this.#commits.close()
    this.abandon()
    this.#disk.opened(true)
  }

  /** The handles of a process that is gone. */
  abandon(): void {
    this.#reader.close()
    this.writer.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #read<T>(from: (connection: Connection) => T): Promise<T> {
    let rows: T
    try {
      this.#tick('read')
      rows = from(this.writer.raw.inTransaction ? this.#reader : this.writer)
    } catch (error) {
      throw storageProblem(error, '')
    }
    await this.#commits.flushing
    return rows
  }
}
