import { Problem } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Transaction } from '../database.ts'
import type { Connection } from './connection.ts'

/** How many writers share a commit at the most: bounds how long the first of them waits for the last. */
const groupMax = 512

interface Writer {
  readonly work: (tx: Transaction) => Promise<unknown>
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

type Settled = { writer: Writer; value: unknown; hooks: (() => void)[] } | { writer: Writer; error: unknown }

/**
 * The write lock of the SQLite engine. Writers queue; whoever is waiting when the lock frees shares one
 * `BEGIN IMMEDIATE … COMMIT`, each behind a savepoint of its own. While a commit's fsync blocks the thread,
 * the sockets fill; the next group takes all that arrived.
 */
export class GroupCommit {
  readonly #connection: Connection
  readonly #clock: Clock
  readonly #queue: Writer[] = []
  // Run for every writer, so they are prepared.
  readonly #savepoint: () => void
  readonly #release: () => void
  readonly #takeBack: () => void
  #draining: Promise<void> | undefined
  #closed = false

  constructor(connection: Connection, clock: Clock) {
    this.#connection = connection
    this.#clock = clock
    this.#savepoint = connection.control('SAVEPOINT writer')
    this.#release = connection.control('RELEASE writer')
    this.#takeBack = connection.control('ROLLBACK TO writer')
  }

  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    if (this.#closed) return Promise.reject(new Problem('storage-unavailable', { detail: 'The store is closed.' }))
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ work, resolve: resolve as (value: unknown) => void, reject })
      this.#draining ??= this.#drain()
    })
  }

  /** Lets the queued writers finish, then refuses new ones. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#draining
  }

  async #drain(): Promise<void> {
    // One turn of the event loop lets every request that is already on a socket join this group.
    await new Promise(setImmediate)
    while (this.#queue.length > 0) {
      await this.#commitGroup(this.#queue.splice(0, groupMax))
      await new Promise(setImmediate)
    }
    this.#draining = undefined
  }

  async #commitGroup(group: readonly Writer[]): Promise<void> {
    const raw = this.#connection.raw
    let settled: Settled[]
    try {
      raw.exec('BEGIN IMMEDIATE')
      settled = []
      for (const writer of group) settled.push(await this.#runWriter(writer))
      raw.exec('COMMIT')
    } catch (error) {
      rollBack(raw)
      const problem = storageProblem(error)
      for (const writer of group) writer.reject(problem)
      return
    }
    for (const result of settled) {
      if ('error' in result) {
        result.writer.reject(result.error)
        continue
      }
      for (const hook of result.hooks) runHook(hook)
      result.writer.resolve(result.value)
    }
  }

  /** Throws only when the whole group is lost: SQLite itself has rolled back (disk full, I/O error). */
  async #runWriter(writer: Writer): Promise<Settled> {
    const connection = this.#connection
    const hooks: (() => void)[] = []
    let over = false
    // Work that its writer did not wait for would land in the next writer's savepoint, or in none.
    const open = (): Connection => {
      if (over) throw new Error('A transaction was used after its end: something in it was not awaited.')
      return connection
    }
    const tx: Transaction = {
      now: this.#clock.now(),
      all: async (statement, params) => open().all(statement, params),
      get: async (statement, params) => open().get(statement, params),
      run: async (statement, params) => open().run(statement, params),
      onCommit: (work) => hooks.push(work),
    }
    this.#savepoint()
    try {
      const value = await writer.work(tx)
      over = true
      this.#release()
      return { writer, value, hooks }
    } catch (error) {
      over = true
      if (!connection.raw.inTransaction) throw error
      this.#takeBack()
      this.#release()
      return { writer, error: isSqliteError(error) ? storageProblem(error) : error }
    }
  }
}

/** A hook that throws is a bug. It ends the process loudly, and it neither fails the write that is kept nor stops the queue. */
function runHook(hook: () => void): void {
  try {
    hook()
  } catch (error) {
    queueMicrotask(() => {
      throw error
    })
  }
}

function rollBack(raw: Connection['raw']): void {
  try {
    if (raw.inTransaction) raw.exec('ROLLBACK')
  } catch {
    // The engine has rolled back by itself; what brought us here is the error to tell.
  }
}

const outages = /^SQLITE_(FULL|IOERR|READONLY|BUSY|LOCKED|CANTOPEN|NOMEM)/

function storageProblem(error: unknown): unknown {
  if (!isSqliteError(error) || !outages.test(error.code)) return error
  return new Problem('storage-unavailable', {
    detail: `The store refused the write (${error.code}); nothing of it was kept. Free the disk and try again.`,
    cause: error,
  })
}

function isSqliteError(error: unknown): error is Error & { code: string } {
  return error instanceof Error && error.name === 'SqliteError' && 'code' in error
}
