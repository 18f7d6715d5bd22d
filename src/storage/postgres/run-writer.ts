import type { Clock } from '../../lib/clock.ts'
import { BeforeCommitWork } from '../before-commit.ts'
import { Collision, type Transaction } from '../database.ts'
import type { Statement } from '../statement.ts'
import { isWrite, type Query, toQuery } from './query.ts'
import type { RowLocks } from './row-locks.ts'
import type { RunningWriters } from './running-writers.ts'
import type { WriteConnection } from './write-connection.ts'
import type { Loss, Result, Writer } from './writer.ts'

/** The state that the writers of one transaction share. */
export interface GroupState {
  readonly connection: WriteConnection
  readonly clock: Clock
  readonly locks: RowLocks<object>
  readonly atWork: RunningWriters
  /** Set once the transaction is going to be rolled back. */
  readonly loss: Loss | undefined
  lose(cause: unknown, culprit: Writer): void
  /** Undefined: the transaction may lock rows. Otherwise resolves when it may. */
  enterLine(): Promise<void> | undefined
}

/**
 * Runs one writer in a transaction that it shares with others. A statement that locks rows waits until the transaction may lock
 * rows. A statement that locks a log also waits for the other writers, so that the order of locks is the same for all. The
 * statements of the writer are sent in the order in which it requested them.
 * @param before the writer gets no answer before this resolves
 */
export function runWriter(shared: GroupState, writer: Writer, before?: Promise<unknown>): Promise<Result> {
  return new WriterRun(shared, writer, before).run()
}

class WriterRun {
  readonly #shared: GroupState
  readonly #writer: Writer
  readonly #before: Promise<unknown> | undefined
  readonly #hooks: (() => void)[] = []
  readonly #deferred = new BeforeCommitWork()
  #isOver = false
  #hasWritten = false
  #hasLocked = false
  /** Set once it found a row locked for which it may not wait. It is run again, also if its work ignores that. */
  #collision: Collision | undefined
  #unanswered = 0
  /** The last statement that had to wait for a lock or a line. Later statements are sent after it. */
  #waiting: Promise<void> | undefined

  constructor(shared: GroupState, writer: Writer, before: Promise<unknown> | undefined) {
    this.#shared = shared
    this.#writer = writer
    this.#before = before
  }

  async run(): Promise<Result> {
    const { locks, atWork } = this.#shared
    const writer = this.#writer
    atWork.start()
    try {
      const value = await writer.work(this.#transaction())
      if (this.#collision) throw this.#collision
      return { writer, value, hooks: this.#hooks, deferred: this.#deferred }
    } catch (error) {
      // The rows that one writer wrote cannot be rolled back alone.
      if (this.#hasWritten || this.#unanswered > 0) this.#shared.lose(error, writer)
      return { writer, error }
    } finally {
      this.#isOver = true
      locks.release(this)
      atWork.stop()
    }
  }

  #transaction(): Transaction {
    const hasWritten = (): boolean => this.#hasWritten
    return {
      // Not that of the group: it may have waited for others.
      now: this.#shared.clock.now(),
      get hasWritten() {
        return hasWritten()
      },
      all: async <Params extends object, Row>(statement: Statement<Params, Row>, params: Params) =>
        (await this.#ask(statement as Statement, params)).rows as Row[],
      get: async <Params extends object, Row>(statement: Statement<Params, Row>, params: Params) =>
        (await this.#ask(statement as Statement, params)).rows[0] as Row | undefined,
      run: async (statement, params) => (await this.#ask(statement as Statement, params)).rowCount ?? 0,
      onCommit: (work) => this.#hooks.push(work),
      beforeCommit: (work, item) => this.#deferred.add(work, item),
    }
  }

  async #ask(statement: Statement, params: object) {
    this.#check()
    const query = toQuery(statement, params)
    const line = query.locksRows ? this.#shared.enterLine() : undefined
    if (this.#waiting || line || statement.takesLog || statement.locks !== undefined) {
      const waiting = (this.#waiting ?? Promise.resolve()).then(() => this.#waitForLocks(statement, params, line))
      this.#waiting = waiting
      try {
        await waiting
      } finally {
        if (this.#waiting === waiting) this.#waiting = undefined
      }
    }
    return this.#send(query)
  }

  async #waitForLocks({ takesLog, locks: locked }: Statement, params: object, line: Promise<void> | undefined) {
    const { atWork, locks } = this.#shared
    await line
    if (takesLog) await atWork.othersStopped()
    if (locked === undefined) return
    this.#check()
    const rows = locked.ids(params).map((id) => `${locked.table} ${id}`)
    // A writer waits for rows only while it has no lock and has written nothing. So no two writers wait for each other.
    const mayWait = !this.#hasWritten && !this.#hasLocked
    if (!(await locks.take(rows, this, mayWait))) throw this.#collide()
    this.#hasLocked = true
  }

  async #send(query: Query) {
    this.#check()
    this.#unanswered++
    try {
      const result = await this.#shared.connection.query(query)
      if (this.#before) await this.#before
      if (isWrite(query) && (result.rowCount ?? 0) > 0) this.#hasWritten = true
      return result
    } catch (error) {
      this.#shared.lose(error, this.#writer)
      throw error
    } finally {
      this.#unanswered--
    }
  }

  /** Throws if the writer has ended: its statement would run in another transaction, or in none. Throws if the group is lost. */
  #check(): void {
    if (this.#isOver) throw new Error('A transaction was used after its end: something in it was not awaited.')
    if (this.#shared.loss) throw this.#shared.loss.cause
    if (this.#collision) throw this.#collision
  }

  /** The other writers of the group go on, unless this one has written something. */
  #collide(): Error {
    this.#collision = new Collision('Two writers of one transaction wait for each other.')
    return this.#collision
  }
}
