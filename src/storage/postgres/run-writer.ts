import { BeforeCommitWork } from '../before-commit.ts'
import { Collision, type Transaction } from '../database.ts'
import type { Statement } from '../statement.ts'
import type { AtWork } from './at-work.ts'
import { isWrite, type Query, toQuery } from './query.ts'
import type { RowLocks } from './row-locks.ts'
import type { WriteConnection } from './write-connection.ts'
import type { Loss, Result, Writer } from './writer.ts'

/** What the writers of one transaction share. */
export interface Shared {
  readonly connection: WriteConnection
  readonly now: number
  readonly locks: RowLocks<object>
  readonly atWork: AtWork
  /** Set once nothing of the transaction will be kept. */
  readonly loss: Loss | undefined
  lose(cause: unknown, culprit: Writer): void
  /** Undefined: the transaction may take rows. Else resolves when it may. */
  enterLine(): Promise<void> | undefined
}

/**
 * Runs one writer within a transaction that others share. What takes rows waits for the transaction's turn in the line, and what
 * takes a log waits for the other writers too: the order of locks is the same for all. Statements go out in the order in which the
 * writer asked for them. `before`: no answer is handed to the writer before this resolves.
 */
export async function runWriter(shared: Shared, writer: Writer, before?: Promise<unknown>): Promise<Result> {
  const { atWork, locks, connection } = shared
  const hooks: (() => void)[] = []
  const deferred = new BeforeCommitWork()
  const state = { over: false, wrote: false, locked: false, unanswered: 0 }
  let ahead: Promise<void> | undefined

  const check = (): void => {
    // Work that its writer did not wait for would land in a transaction that is not its own, or in none.
    if (state.over) throw new Error('A transaction was used after its end: something in it was not awaited.')
    if (shared.loss) throw shared.loss.cause
  }
  const admit = async ({ takesLog, locks: table }: Statement, params: object, turn: Promise<void> | undefined) => {
    await turn
    if (takesLog) await atWork.othersStopped()
    if (table === undefined) return
    check()
    const row = `${table} ${(params as { id: string }).id}`
    // Who holds nothing can wait for whoever does: no two then wait for each other.
    if (!(await locks.take(row, state, !state.wrote && !state.locked))) throw collide(shared, writer)
    state.locked = true
  }
  const ask = async (statement: Statement, params: object) => {
    check()
    const query = toQuery(statement, params)
    const turn = query.takesRows ? shared.enterLine() : undefined
    if (ahead || turn || statement.takesLog || statement.locks !== undefined) {
      const admitted = (ahead ?? Promise.resolve()).then(() => admit(statement, params, turn))
      ahead = admitted
      try {
        await admitted
      } finally {
        if (ahead === admitted) ahead = undefined
      }
    }
    return send(query)
  }
  const send = async (query: Query) => {
    check()
    state.unanswered++
    try {
      const result = await connection.query(query)
      if (before) await before
      if (isWrite(query) && (result.rowCount ?? 0) > 0) state.wrote = true
      return result
    } catch (error) {
      shared.lose(error, writer)
      throw error
    } finally {
      state.unanswered--
    }
  }
  const tx: Transaction = {
    now: shared.now,
    all: async <Params extends object, Row>(statement: Statement<Params, Row>, params: Params) =>
      (await ask(statement as Statement, params)).rows as Row[],
    get: async <Params extends object, Row>(statement: Statement<Params, Row>, params: Params) =>
      (await ask(statement as Statement, params)).rows[0] as Row | undefined,
    run: async (statement, params) => (await ask(statement as Statement, params)).rowCount ?? 0,
    onCommit: (work) => hooks.push(work),
    beforeCommit: (work, item) => deferred.add(work, item),
  }
  atWork.start()
  try {
    const value = await writer.work(tx)
    return { writer, value, hooks, deferred }
  } catch (error) {
    // What it wrote cannot be taken back alone.
    if (state.wrote || state.unanswered > 0) shared.lose(error, writer)
    return { writer, error }
  } finally {
    state.over = true
    locks.release(state)
    atWork.stop()
  }
}

function collide(shared: Shared, writer: Writer): Error {
  const error = new Collision('Two writers of one transaction wait for each other.')
  shared.lose(error, writer)
  return error
}
