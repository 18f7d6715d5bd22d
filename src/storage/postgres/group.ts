import { BeforeCommitWork } from '../before-commit.ts'
import type { Pipelined, Transaction } from '../database.ts'
import { pipelined } from '../pipelined.ts'
import { AtWork } from './at-work.ts'
import type { Gate } from './gate.ts'
import { PlaceInLine } from './place-in-line.ts'
import { RowLocks } from './row-locks.ts'
import { runWriter, type Shared } from './run-writer.ts'
import { isCertain } from './storage-problem.ts'
import type { WriteConnection } from './write-connection.ts'
import type { Loss, Queue, Result, Writer } from './writer.ts'

/** How many writers share a commit at the most: bounds how long the first of them waits, and who else waits for their rows. */
export const groupMax = 128

/**
 * Writers that share one transaction and run at the same time, so that the statements of all travel together. There is no
 * savepoint between them: one that fails behind something it wrote fails them all, and they are run again without it.
 *
 * A group takes no row before it is its turn in the line, and asks for no row after it has asked for its commit. So no two groups
 * of a gateway wait for each other: whoever has the turn waits for commits at the most.
 */
export class Group implements Shared {
  readonly connection: WriteConnection
  readonly now: number
  readonly atWork = new AtWork()
  readonly locks = new RowLocks<object>(this.atWork)
  readonly #queue: Queue
  readonly #place: PlaceInLine
  readonly #writers: Writer[] = []
  readonly #running: Promise<Result>[] = []
  /** Resolves when nobody else is taken in. */
  #takingIn: Promise<void> | undefined
  readonly #over: Promise<void>
  /** Says that whoever is told of its end has been told: hooks have run. */
  end = (): void => {}
  #appends = false
  #loss: Loss | undefined

  /** `gate` is where the groups of a gateway wait for their turn; `queue`, whom this one takes in meanwhile. */
  constructor(connection: WriteConnection, gate: Gate, queue: Queue, now: number) {
    this.connection = connection
    this.now = now
    this.#queue = queue
    this.#place = new PlaceInLine(gate)
    this.#over = new Promise((resolve) => {
      this.end = resolve
    })
  }

  /** Those that it began with, and those that it took in. */
  get writers(): readonly Writer[] {
    return this.#writers
  }

  get loss(): Loss | undefined {
    return this.#loss
  }

  lose(cause: unknown, culprit: Writer | undefined): void {
    this.#loss ??= { cause, culprit, uncertain: false }
  }

  /** Runs the writers, and with them those that queue while it waits, and commits. Nothing is kept when it answers a loss. */
  async run(writers: readonly Writer[]): Promise<readonly Result[] | Loss> {
    let last = pipelined()
    const begun = this.connection.query('begin isolation level read committed')
    begun.catch((error) => this.lose(error, undefined))
    // Somebody came in the way of what they had read: now nobody of this gateway does.
    if (writers.some(({ tries }) => tries > 0)) await this.enterLine()
    this.#start(writers)
    let results = await this.#results()
    if (!this.#loss && results.some(leavesWork)) {
      await this.enterLine()
      results = await this.#results()
      if (!this.#loss) {
        const closed = await this.#close(results)
        results = [...results, closed]
        if ('value' in closed) last = closed.value as Pipelined
      }
    }
    await begun.catch(() => {})
    if (!this.#loss) await Promise.all([this.#commit(), last.answered.catch((error) => this.lose(error, undefined))])
    else await this.#rollBack()
    this.#leave()
    return this.#loss ?? results
  }

  enterLine(): Promise<void> | undefined {
    const turn = this.#place.enter()
    if (turn) this.#takingIn ??= this.#takeIn(turn)
    return turn
  }

  #start(writers: readonly Writer[]): void {
    this.#writers.push(...writers)
    for (const writer of writers) this.#running.push(runWriter(this, writer))
  }

  /** What became of all of them. */
  async #results(): Promise<Result[]> {
    await Promise.all(this.#running)
    await this.#takingIn
    return Promise.all(this.#running)
  }

  /** Takes in who comes while it waits for its turn: the fewer the groups, the shorter the line. */
  async #takeIn(turn: Promise<void>): Promise<void> {
    let isMine = false
    void turn.then(() => {
      isMine = true
    })
    while (!isMine && !this.#loss) {
      const room = groupMax - this.#writers.length
      const arrival = room > 0 ? this.#queue.listen() : undefined
      await Promise.race([turn, ...(arrival ? [arrival.heard] : [])])
      arrival?.stop()
      this.#start(this.#queue.take(isMine ? 0 : room))
    }
  }

  /** Does what the writers left for the end, as one more writer that nobody waits for. */
  async #close(results: readonly Result[]): Promise<Result> {
    this.#appends = true
    const left = new BeforeCommitWork()
    for (const result of results) if ('deferred' in result) left.join(result.deferred)
    const work = (tx: Transaction): Promise<Pipelined> => left.run(tx)
    // What it learns of the log is news to nobody here: the hooks of those before it have run.
    const result = await runWriter(this, { work, resolve: () => {}, reject: () => {}, tries: 0 }, this.#place.before)
    if ('error' in result) this.lose(result.error, undefined)
    return result
  }

  async #commit(): Promise<void> {
    // A connection that was gone before anybody asked for the commit has kept nothing.
    const { isOpen } = this.connection
    try {
      const committing = this.connection.query('commit')
      // The next one asks for its rows behind this commit, and has them as soon as the server is done.
      this.#leave()
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
      // Then there is no connection any more, and no transaction; what brought us here is the error to tell.
      this.connection.discard()
    }
  }

  #leave(): void {
    this.#place.leave(this.#appends ? this.#over : undefined)
  }
}

function leavesWork(result: Result): boolean {
  return 'deferred' in result && !result.deferred.isEmpty
}
