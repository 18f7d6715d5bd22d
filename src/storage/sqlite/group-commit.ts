import { Problem } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import { type Logger, silentLogger } from '../../logger/logger.ts'
import { BeforeCommitWork } from '../before-commit.ts'
import type { NoteCommit, Transaction } from '../database.ts'
import { runHook } from '../run-hook.ts'
import type { Checkpoints } from './checkpoints/checkpoints.ts'
import type { Connection } from './connection.ts'
import { openTransaction } from './open-transaction.ts'
import { Savepoint } from './savepoint.ts'
import { isSqliteError, storageProblem } from './storage-problem.ts'
import { WalRoom } from './wal-room.ts'
import { WriteLock } from './write-lock.ts'

/** The most writers that share a commit: bounds how long the first of them waits for the last. */
const groupMax = 512

interface Writer {
  readonly work: (tx: Transaction) => Promise<unknown>
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

interface WriterResult {
  readonly writer: Writer
  readonly value: unknown
  readonly hooks: readonly (() => void)[]
  readonly closings: BeforeCommitWork
}
type WriterOutcome = WriterResult | { readonly writer: Writer; readonly error: unknown }

/** Forces commits to the disk. */
interface Flushable {
  flush(): Promise<void>
}

/** How many groups have savepoints after a writer that failed with changes: one that fails on purpose does not make all groups run twice. */
const separateAfterFailure = 100

/**
 * The write lock of the SQLite engine. Writers queue. All that wait when the lock becomes free share one
 * `BEGIN IMMEDIATE … COMMIT`. A commit is written at once and forced to the disk, by another thread if the disk is slow; meanwhile the
 * next group runs, accepts new writers, and commits when the disk is free. A commit is reported only when it is on the disk.
 *
 * A savepoint for each writer would copy every page that it changes. So there is none: a writer that fails before it has changed
 * anything fails alone, and after any other failure the group is rolled back and runs again, now with a savepoint for each writer.
 */
export class GroupCommit {
  readonly #connection: Connection
  readonly #disk: Flushable
  readonly #clock: Clock
  readonly #checkpoints: Checkpoints | undefined
  readonly #room: WalRoom
  readonly #lock: WriteLock
  readonly #noteCommit: NoteCommit
  readonly #queue: Writer[] = []
  readonly #commit: () => void
  readonly #savepoint: Savepoint
  #draining: Promise<void> | undefined
  #flushing: Promise<void> | undefined
  #arrived = () => {}
  /** How many of the next groups have savepoints from the start. */
  #separateGroups = 0
  #closed = false
  #failure: Problem | undefined

  /** Without `checkpoints` only the connection itself makes some, when the log is large. */
  constructor(
    connection: Connection,
    disk: Flushable,
    clock: Clock,
    checkpoints?: Checkpoints,
    log: Logger = silentLogger,
    noteCommit: NoteCommit = () => {},
  ) {
    this.#noteCommit = noteCommit
    this.#connection = connection
    this.#disk = disk
    this.#checkpoints = checkpoints
    this.#room = new WalRoom(connection.raw, clock)
    this.#lock = new WriteLock(connection.raw, log)
    this.#clock = clock
    this.#commit = connection.control('COMMIT')
    this.#savepoint = new Savepoint(connection)
  }

  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    if (this.#closed) return Promise.reject(new Problem('storage-unavailable', { detail: 'The store is closed.' }))
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ work, resolve: resolve as (value: unknown) => void, reject })
      this.#arrived()
      this.#draining ??= this.#drain()
    })
  }

  /** The commit that is being forced to the disk, if any: what a reader sees of it is not durable yet. */
  get flushing(): Promise<void> | undefined {
    return this.#flushing
  }

  /** Lets queued writers finish and refuses new ones. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#draining
    await this.#flushing
  }

  async #drain(): Promise<void> {
    // After one iteration of the event loop every request that is already on a socket has joined this group.
    await new Promise(setImmediate)
    while (this.#queue.length > 0) {
      await this.#commitGroup()
      await new Promise(setImmediate)
    }
    this.#draining = undefined
  }

  async #commitGroup(): Promise<void> {
    const group = this.#queue.splice(0, groupMax)
    try {
      await this.#checkpoints?.beforeGroup()
      await this.#runGroup(group).catch(async (error) => {
        await this.#checkpoints?.settled()
        if (!this.#room.makeAfter(error)) throw error
        return this.#runGroup(group)
      })
    } catch (error) {
      const problem = storageProblem(error)
      for (const writer of group) writer.reject(problem)
    }
  }

  /** Runs the writers, and those that arrive meanwhile, in one transaction. Throws when all of it is rolled back. */
  async #runGroup(group: Writer[]): Promise<void> {
    const startedAt = performance.now()
    const settled: WriterOutcome[] = []
    const hooks: (() => void)[] = []
    let run = this.#separateGroups > 0 ? this.#runSeparately : this.#runWriter
    if (this.#separateGroups > 0) this.#separateGroups--
    try {
      await this.#lock.begin()
      for (;;) {
        while (settled.length < group.length) {
          const result = await run.call(this, group[settled.length]!)
          if (result) settled.push(result)
          else {
            this.#lock.rollBack()
            await this.#lock.begin()
            settled.length = 0
            run = this.#runSeparately
            this.#separateGroups = separateAfterFailure
          }
        }
        if (!this.#flushing) break
        await (group.length < groupMax ? Promise.race([this.#flushing, this.#arrival()]) : this.#flushing)
        group.push(...this.#queue.splice(0, groupMax - group.length))
      }
      if (this.#failure) throw this.#failure
      hooks.push(...(await this.#close(settled)))
      this.#commit()
    } catch (error) {
      this.#lock.rollBack()
      throw error
    }
    this.#flushing = this.#flush(settled, hooks, startedAt)
  }

  /** Forces the commit to the disk, then resolves its writers. */
  async #flush(settled: readonly WriterOutcome[], hooks: readonly (() => void)[], startedAt: number): Promise<void> {
    try {
      await this.#disk.flush()
    } catch (error) {
      // It is unknown what is on the disk. Only opening the store again can tell.
      this.#failure = new Problem('storage-unavailable', {
        detail:
          'The disk failed during a write, so it is uncertain whether the write was stored. Check the disk, and restart the gateway.',
        extra: { uncertain: true },
        cause: error,
      })
    }
    this.#flushing = undefined
    if (!this.#failure) this.#noteCommit(settled.length, performance.now() - startedAt)
    for (const result of settled) {
      if (this.#failure) result.writer.reject(this.#failure)
      else if ('error' in result) result.writer.reject(result.error)
      else {
        for (const hook of result.hooks) runHook(hook)
        result.writer.resolve(result.value)
      }
    }
    if (!this.#failure) for (const hook of hooks) runHook(hook)
  }

  /** Resolves with the next writer that queues. */
  #arrival(): Promise<void> {
    if (this.#queue.length > 0) return Promise.resolve()
    return new Promise((resolve) => {
      this.#arrived = resolve
    })
  }

  /** Does the deferred work of the writers. Returns its commit hooks. */
  async #close(settled: readonly WriterOutcome[]): Promise<readonly (() => void)[]> {
    const left = new BeforeCommitWork()
    for (const result of settled) if ('closings' in result) left.join(result.closings)
    if (left.isEmpty) return []
    const { tx, hooks, end } = openTransaction(this.#connection, this.#clock.now())
    await (await left.run(tx)).answered
    end()
    return hooks
  }

  /** Returns undefined when the writer failed and may have left changes. Throws only when the whole group is lost. */
  async #runWriter(writer: Writer): Promise<WriterOutcome | undefined> {
    const connection = this.#connection
    const changesBefore = connection.changes
    const { tx, hooks, closings, end } = openTransaction(connection, this.#clock.now())
    try {
      const value = await writer.work(tx)
      end()
      return { writer, value, hooks, closings }
    } catch (error) {
      end()
      requireTransaction(connection, error)
      return isSqliteError(error) || connection.changes !== changesBefore ? undefined : { writer, error }
    }
  }

  /** Undoes what a writer that fails has changed, and nothing else. Throws only when the whole group is lost. */
  async #runSeparately(writer: Writer): Promise<WriterOutcome> {
    const { tx, hooks, closings, end } = openTransaction(this.#connection, this.#clock.now())
    this.#savepoint.set()
    try {
      const value = await writer.work(tx)
      end()
      this.#savepoint.release()
      return { writer, value, hooks, closings }
    } catch (error) {
      end()
      requireTransaction(this.#connection, error)
      this.#savepoint.undo()
      return { writer, error: isSqliteError(error) ? storageProblem(error) : error }
    }
  }
}

/** Throws the error of a writer when SQLite has rolled back all of the group: the disk is full, or failed. */
function requireTransaction({ raw }: Connection, error: unknown): void {
  if (!raw.inTransaction) throw error
}
