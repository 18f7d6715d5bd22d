import type { Clock } from '../../lib/clock.ts'
import { BeforeCommitWork } from '../before-commit.ts'
import type { PipelinedStatements, Transaction } from '../database.ts'
import { pipelined } from '../pipelined.ts'
import type { RowsLock } from './advisory-lock.ts'
import type { Gate } from './gate.ts'
import { GatePlace } from './gate-place.ts'
import { RowLocks } from './row-locks.ts'
import { type GroupState, runWriter } from './run-writer.ts'
import { RunningWriters } from './running-writers.ts'
import { isCertain } from './storage-problem.ts'
import type { WriteConnection } from './write-connection.ts'
import type { Loss, Queue, Result, Writer } from './writer.ts'

/** The most writers that share a commit. It bounds how long the first one waits, and how many rows are locked meanwhile. */
export const groupMax = 128

/** The locks that the groups of one gateway wait for before they lock rows: for each other, then for other gateways. */
export interface Locks {
  readonly gate: Gate
  readonly rowsLock: RowsLock
}

/**
 * Writers that share one transaction and run at the same time, so that their statements are sent together. There are no
 * savepoints between them: if a writer fails after it has written something, the group is rolled back and run again without it.
 *
 * A group locks no row before it has passed the gate, and leaves it when all its locks are answered. So two groups of one gateway
 * never wait for each other: the group inside the gate waits at most for the commits of earlier groups.
 */
export class Group implements GroupState {
  readonly connection: WriteConnection
  readonly clock: Clock
  readonly atWork = new RunningWriters()
  readonly locks = new RowLocks<object>(this.atWork)
  readonly #queue: Queue
  readonly #place: GatePlace
  readonly #rowsLock: RowsLock
  #hasRowsLock = false
  readonly #writers: Writer[] = []
  readonly #running: Promise<Result>[] = []
  /** Resolves when the group accepts no more writers. */
  #accepting: Promise<void> | undefined
  readonly #over: Promise<void>
  /** Called when the commit hooks of this group have run. */
  end = (): void => {}
  #appends = false
  #loss: Loss | undefined

  /** The group accepts writers from `queue` while it waits at the `gate`. */
  constructor(connection: WriteConnection, { gate, rowsLock }: Locks, queue: Queue, clock: Clock) {
    this.connection = connection
    this.clock = clock
    this.#rowsLock = rowsLock
    this.#queue = queue
    this.#place = new GatePlace(gate)
    this.#over = new Promise((resolve) => {
      this.end = resolve
    })
  }

  /** The writers that it began with, and those that it accepted later. */
  get writers(): readonly Writer[] {
    return this.#writers
  }

  get loss(): Loss | undefined {
    return this.#loss
  }

  lose(cause: unknown, culprit: Writer | undefined): void {
    this.#loss ??= { cause, culprit, uncertain: false }
  }

  /** Runs the writers, accepts more while it waits, and commits. Returns the loss if the transaction was rolled back. */
  async run(writers: readonly Writer[]): Promise<readonly Result[] | Loss> {
    let last = pipelined()
    const begun = this.connection.query('begin isolation level read committed')
    begun.catch((error) => this.lose(error, undefined))
    // Another writer changed what these had read. Inside the gate no other group of this gateway can.
    if (writers.some(({ tries }) => tries > 0)) await this.enterLine()
    this.#start(writers)
    let results = await this.#results()
    if (!this.#loss && results.some(hasDeferred)) {
      await this.enterLine()
      results = await this.#results()
      if (!this.#loss) {
        const closed = await this.#close(results)
        results = [...results, closed]
        if ('value' in closed) last = closed.value as PipelinedStatements
      }
    }
    await begun.catch(() => {})
    if (!this.#loss)
      await Promise.all([this.#commit(last), last.answered.catch((error) => this.lose(error, undefined))])
    else await this.#rollBack()
    this.#leave()
    return this.#loss ?? results
  }

  enterLine(): Promise<void> | undefined {
    const entered = this.#place.enter()
    if (entered) this.#accepting ??= this.#acceptUntil(entered)
    if (!this.#hasRowsLock) {
      this.#hasRowsLock = true
      if (entered) void entered.then(() => this.#lockRows())
      else this.#lockRows()
    }
    return entered
  }

  /** Sends the lock before any statement that locks rows, which is sent only after the group has entered. */
  #lockRows(): void {
    if (!this.#loss) this.connection.query(this.#rowsLock.query).catch((error) => this.lose(error, undefined))
  }

  #start(writers: readonly Writer[]): void {
    this.#writers.push(...writers)
    for (const writer of writers) this.#running.push(runWriter(this, writer))
  }

  /** Resolves with the results of all writers. */
  async #results(): Promise<Result[]> {
    await Promise.all(this.#running)
    await this.#accepting
    return Promise.all(this.#running)
  }

  /** Accepts writers that arrive while the group waits at the gate: fewer groups make the wait shorter. */
  async #acceptUntil(entered: Promise<void>): Promise<void> {
    let isInside = false
    void entered.then(() => {
      isInside = true
    })
    while (!isInside && !this.#loss) {
      const max = groupMax - this.#writers.length
      const next = max > 0 ? this.#queue.listen() : undefined
      await Promise.race([entered, ...(next ? [next.arrived] : [])])
      next?.stop()
      this.#start(this.#queue.take(isInside ? 0 : max))
    }
  }

  /** Does the work that the writers deferred, as one more writer. */
  async #close(results: readonly Result[]): Promise<Result> {
    this.#appends = true
    const deferred = new BeforeCommitWork()
    for (const result of results) if ('deferred' in result) deferred.join(result.deferred)
    const work = (tx: Transaction): Promise<PipelinedStatements> => deferred.run(tx)
    // It gets answers only after the hooks of earlier groups have run, so it never knows more of the log than was published.
    const result = await runWriter(
      this,
      { work, resolve: () => {}, reject: () => {}, tries: 0 },
      this.#place.hooksBefore,
    )
    if ('error' in result) this.lose(result.error, undefined)
    return result
  }

  /** @param last the statements that were sent and have no answer yet */
  async #commit(last: PipelinedStatements): Promise<void> {
    // If the connection was already lost before the commit was sent, nothing was committed.
    const { isOpen } = this.connection
    try {
      const committing = this.connection.query('commit')
      // The next group sends its first lock when these are answered, and not when the commit is: until then they may still lock rows, on
      // another connection than the lock of the next group.
      const leave = (): void => this.#leave()
      last.answered.then(leave, leave)
      const { command } = await committing
      if (command !== 'COMMIT') this.lose(new Error('The transaction was rolled back.'), undefined)
    } catch (cause) {
      this.#loss = { cause, culprit: undefined, uncertain: isOpen && !isCertain(cause) }
    }
  }

  async #rollBack(): Promise<void> {
    try {
      await this.connection.query('rollback')
    } catch {
      // Then the connection is lost, and the transaction with it. The first error is the one to report.
      this.connection.discard()
    }
  }

  #leave(): void {
    this.#place.leave(this.#appends ? this.#over : undefined)
  }
}

function hasDeferred(result: Result): boolean {
  return 'deferred' in result && !result.deferred.isEmpty
}
