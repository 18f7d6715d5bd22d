import { BeforeCommitWork } from '../before-commit.ts'
import { Collision, type Pipelined, type Transaction } from '../database.ts'
import { pipelined } from '../pipelined.ts'
import type { Statement } from '../statement.ts'
import type { Gate } from './gate.ts'
import { isWrite, type Query, toQuery } from './query.ts'
import { RowLocks } from './row-locks.ts'
import { isCertain } from './storage-problem.ts'
import type { WriteConnection } from './write-connection.ts'

export interface Writer {
  readonly work: (tx: Transaction) => Promise<unknown>
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
  /** How often it was run in vain. */
  tries: number
}

export type Result =
  | {
      readonly writer: Writer
      readonly value: unknown
      readonly hooks: readonly (() => void)[]
      readonly closings: BeforeCommitWork
    }
  | { readonly writer: Writer; readonly error: unknown }

/** Why nothing of a group was kept: whose fault it is, where it is one writer's; `uncertain` where perhaps it was kept. */
export interface Loss {
  readonly cause: unknown
  readonly culprit: Writer | undefined
  readonly uncertain: boolean
}

/** Writers that queue, for a group that has time for more. */
export interface Queue {
  /** Takes up to `room` of them. */
  take(room: number): readonly Writer[]
  /** Hears of the next one, until it is told to stop. Whoever listens takes it, or has a lane that does. */
  listen(): { readonly heard: Promise<void>; stop(): void }
}

/** How many writers share a commit at the most: bounds how long the first of them waits, and who else waits for their rows. */
export const groupMax = 128

/**
 * Writers that share one transaction and run at the same time, so that the statements of all travel together. There is no
 * savepoint between them: one that fails behind something it wrote fails them all, and they are run again without it.
 */
export class Group {
  readonly #connection: WriteConnection
  readonly #now: number
  readonly #gate: Gate
  readonly #locks = new RowLocks<object>()
  readonly #writers: Writer[] = []
  readonly #over: Promise<void>
  /** Says that whoever is told of its end has been told: hooks have run. */
  end = (): void => {}
  #leave = (): void => {}
  /** Set once it stands in the line for the log; resolves when it is its turn. */
  #turn: Promise<void> | undefined
  #loss: Loss | undefined

  /** `gate` is for those that leave something for the end: there they wait for the log, which one of them holds at a time. */
  constructor(connection: WriteConnection, gate: Gate, now: number) {
    this.#connection = connection
    this.#gate = gate
    this.#now = now
    this.#over = new Promise((resolve) => {
      this.end = resolve
    })
  }

  /** Those that it began with, and those that it took in. */
  get writers(): readonly Writer[] {
    return this.#writers
  }

  /** Runs the writers, and with them those that queue while it waits, and commits. Nothing is kept when it answers a loss. */
  async run(writers: readonly Writer[], queue: Queue): Promise<readonly Result[] | Loss> {
    let last = pipelined()
    const begun = this.#connection.query('begin isolation level read committed')
    begun.catch((error) => this.#lose(error, undefined))
    const results = await this.#runAll(writers)
    if (!this.#loss && results.some(leavesWork)) {
      results.push(...(await this.#takeTurn(queue)))
      if (!this.#loss) {
        const closed = await this.#close(results)
        results.push(closed)
        if ('value' in closed) last = closed.value as Pipelined
      }
    }
    await begun.catch(() => {})
    if (!this.#loss) await Promise.all([this.#commit(), last.answered.catch((error) => this.#lose(error, undefined))])
    else await this.#rollBack()
    this.#leave()
    return this.#loss ?? results
  }

  #runAll(writers: readonly Writer[]): Promise<Result[]> {
    this.#writers.push(...writers)
    return Promise.all(writers.map((writer) => this.#runWriter(writer)))
  }

  /** Waits for the group that is at the log, and takes in who comes meanwhile: the fewer the groups, the shorter the line. */
  async #takeTurn(queue: Queue): Promise<Result[]> {
    const results: Result[] = []
    const turn = this.#enterLine()
    let isMine = turn === undefined
    void turn?.then(() => {
      isMine = true
    })
    while (!isMine && !this.#loss) {
      const room = groupMax - this.#writers.length
      const arrival = room > 0 ? queue.listen() : undefined
      await Promise.race([turn, ...(arrival ? [arrival.heard] : [])])
      arrival?.stop()
      results.push(...(await this.#runAll(queue.take(room))))
    }
    return results
  }

  /** Stands in the line for the log, once. Undefined: it is its turn. */
  #enterLine(): Promise<void> | undefined {
    if (this.#turn) return this.#turn
    const turn = this.#gate.enter()
    this.#turn = turn ?? Promise.resolve()
    this.#leave = () => {
      this.#leave = () => {}
      this.#gate.leave(this.#over)
    }
    return turn
  }

  /** Does what the writers left for the end, as one more writer that nobody waits for. */
  async #close(results: readonly Result[]): Promise<Result> {
    const left = new BeforeCommitWork()
    for (const result of results) if ('closings' in result) left.join(result.closings)
    const work = (tx: Transaction): Promise<Pipelined> => left.run(tx)
    // What it learns of the log is news to nobody here: the hooks of those before it have run.
    const result = await this.#runWriter({ work, resolve: () => {}, reject: () => {}, tries: 0 }, this.#gate.before)
    if ('error' in result) this.#lose(result.error, undefined)
    return result
  }

  async #commit(): Promise<void> {
    // A connection that was gone before anybody asked for the commit has kept nothing.
    const { isOpen } = this.#connection
    try {
      const committing = this.#connection.query('commit')
      // The next one asks for the log behind this commit, and has it as soon as the server is done.
      this.#leave()
      const { command } = await committing
      if (command !== 'COMMIT') this.#lose(new Error('The transaction was rolled back.'), undefined)
    } catch (cause) {
      this.#loss = { cause, culprit: undefined, uncertain: isOpen && !isCertain(cause) }
    }
  }

  async #rollBack(): Promise<void> {
    try {
      await this.#connection.query('rollback')
    } catch {
      // Then there is no connection any more, and no transaction; what brought us here is the error to tell.
      this.#connection.discard()
    }
  }

  async #runWriter(writer: Writer, before?: Promise<unknown>): Promise<Result> {
    const hooks: (() => void)[] = []
    const closings = new BeforeCommitWork()
    const state = { over: false, wrote: false, locked: false, unanswered: 0 }
    const ask = async (query: Query) => {
      // Work that its writer did not wait for would land in a transaction that is not its own, or in none.
      if (state.over) throw new Error('A transaction was used after its end: something in it was not awaited.')
      if (this.#loss) throw this.#loss.cause
      state.unanswered++
      try {
        const result = await this.#connection.query(query)
        if (before) await before
        if (isWrite(query) && (result.rowCount ?? 0) > 0) state.wrote = true
        return result
      } catch (error) {
        this.#lose(error, writer)
        throw error
      } finally {
        state.unanswered--
      }
    }
    const read = async (statement: Statement, params: object): Promise<unknown[]> => {
      if (statement.locks !== undefined) {
        const row = `${statement.locks} ${(params as { id: string }).id}`
        // Who holds nothing can wait for whoever does: no two then wait for each other.
        if (!(await this.#locks.take(row, state, !state.wrote && !state.locked))) throw this.#collide(writer)
        state.locked = true
      }
      // The line of this process first, then the row: who had the row and not the turn would keep whoever has the turn waiting.
      if (statement.takesLog) await this.#enterLine()
      return (await ask(toQuery(statement, params))).rows
    }
    const tx: Transaction = {
      now: this.#now,
      all: async <Params extends object, Row>(statement: Statement<Params, Row>, params: Params) =>
        (await read(statement as Statement, params)) as Row[],
      get: async <Params extends object, Row>(statement: Statement<Params, Row>, params: Params) =>
        (await read(statement as Statement, params))[0] as Row | undefined,
      run: async (statement, params) => (await ask(toQuery(statement, params))).rowCount ?? 0,
      onCommit: (work) => hooks.push(work),
      beforeCommit: (closing, item) => closings.add(closing, item),
    }
    try {
      const value = await writer.work(tx)
      return { writer, value, hooks, closings }
    } catch (error) {
      // What it wrote cannot be taken back alone.
      if (state.wrote || state.unanswered > 0) this.#lose(error, writer)
      return { writer, error }
    } finally {
      state.over = true
      this.#locks.release(state)
    }
  }

  #collide(writer: Writer): Error {
    const error = new Collision('Two writers of one transaction wait for each other.')
    this.#lose(error, writer)
    return error
  }

  #lose(cause: unknown, culprit: Writer | undefined): void {
    this.#loss ??= { cause, culprit, uncertain: false }
  }
}

function leavesWork(result: Result): boolean {
  return 'closings' in result && !result.closings.isEmpty
}
