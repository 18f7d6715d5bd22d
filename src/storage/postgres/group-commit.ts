import { Problem } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import { Collision, type Transaction } from '../database.ts'
import { runHook } from '../run-hook.ts'
import { Gate } from './gate.ts'
import { Group, groupMax } from './group.ts'
import { isCollision, isConnectionLost, isOutage, isSlow, storageProblem, uncertain } from './storage-problem.ts'
import type { WriteConnection } from './write-connection.ts'
import type { Loss, Queue, Result, Writer } from './writer.ts'

/** How long a group waits for its turn to take rows. Then it waits in the database, where others see it. */
const patienceMs = 1_000
/** How often a writer is run when others come in its way. */
const triesMax = 4

/** For a writer that had no luck in company. */
const nobody: Queue = {
  take: () => [],
  listen: () => ({ heard: new Promise(() => {}), stop() {} }),
}

/** A connection, and what is under way on it. */
interface Lane {
  readonly connection: WriteConnection
  draining: Promise<void> | undefined
}

/**
 * The writing side of the PostgreSQL engine. Writers queue; whoever is waiting when a connection frees shares one
 * transaction. While one group commits, the next one runs on another connection. Where a group is lost through one of its
 * writers, that one is run again alone and the others together.
 */
export class GroupCommit {
  readonly #lanes: readonly Lane[]
  readonly #clock: Clock
  readonly #queue: Writer[] = []
  /** Writers that had no luck in company. */
  readonly #alone: Writer[] = []
  readonly #gate = new Gate(patienceMs)
  /** Groups that have time for more. */
  readonly #listening = new Set<() => void>()
  #closed = false

  constructor(connections: readonly WriteConnection[], clock: Clock) {
    this.#lanes = connections.map((connection) => ({ connection, draining: undefined }))
    this.#clock = clock
  }

  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    if (this.#closed) return Promise.reject(new Problem('storage-unavailable', { detail: 'The store is closed.' }))
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ work, resolve: resolve as (value: unknown) => void, reject, tries: 0 })
      const [listening] = this.#listening
      if (listening) return listening()
      this.#startLane()
    })
  }

  /** Lets the queued writers finish, then refuses new ones. */
  async close(): Promise<void> {
    this.#closed = true
    await Promise.all(this.#lanes.map(({ draining }) => draining))
    await Promise.all(this.#lanes.map(({ connection }) => connection.close()))
  }

  #startLane(): void {
    const free = this.#lanes.find(({ draining }) => !draining)
    if (free) free.draining = this.#drain(free)
  }

  async #drain(lane: Lane): Promise<void> {
    // One turn of the event loop lets every request that is already on a socket join this group.
    await new Promise(setImmediate)
    for (;;) {
      const next = this.#alone.shift()
      const writers = next ? [next] : this.#queue.splice(0, groupMax)
      if (writers.length === 0) break
      await this.#commit(lane, writers, next ? nobody : this.#waiting)
      await new Promise(setImmediate)
    }
    lane.draining = undefined
  }

  async #commit({ connection }: Lane, writers: readonly Writer[], queue: Queue): Promise<void> {
    try {
      await connection.open()
    } catch (error) {
      // Nor is there a connection for those behind it.
      const problem = storageProblem(error)
      for (const writer of [...writers, ...this.#alone.splice(0), ...this.#queue.splice(0)]) writer.reject(problem)
      return
    }
    const group = new Group(connection, this.#gate, queue, this.#clock.now())
    try {
      this.#tell(connection, group, await group.run(writers))
    } finally {
      group.end()
    }
  }

  #tell(connection: WriteConnection, group: Group, end: readonly Result[] | Loss): void {
    if (!('cause' in end)) {
      for (const result of end) {
        if ('error' in result) {
          if (result.error instanceof Collision && ++result.writer.tries < triesMax) this.#alone.push(result.writer)
          else result.writer.reject(storageProblem(result.error))
          continue
        }
        for (const hook of result.hooks) runHook(hook)
        result.writer.resolve(result.value)
      }
      return
    }
    if (isConnectionLost(end.cause)) connection.discard()
    this.#runAgain(group.writers, end)
  }

  readonly #waiting: Queue = {
    take: (room) => {
      const taken = this.#queue.splice(0, room)
      if (this.#queue.length > 0) this.#startLane()
      return taken
    },
    listen: () => {
      let hear = (): void => {}
      const heard = new Promise<void>((resolve) => {
        hear = resolve
      })
      if (this.#queue.length > 0) hear()
      else this.#listening.add(hear)
      return { heard, stop: () => this.#listening.delete(hear) }
    },
  }

  /** Nothing of them was kept: each is run once more where that may help, and told where it does not. */
  #runAgain(writers: readonly Writer[], { cause, culprit, uncertain: isUncertain }: Loss): void {
    if (isUncertain) {
      const problem = uncertain(cause)
      for (const writer of writers) writer.reject(problem)
      return
    }
    const problem = storageProblem(cause)
    const inCompany = writers.length > 1
    const together: Writer[] = []
    const alone = (writer: Writer): void => {
      // Its tries in company were the others' as well.
      if (inCompany) writer.tries = 0
      this.#alone.push(writer)
    }
    for (const writer of writers) {
      const tries = ++writer.tries
      if (isOutage(cause)) {
        // A connection that was found dead says nothing of the next one.
        if (isConnectionLost(cause) && tries === 1) together.push(writer)
        else writer.reject(problem)
      } else if (writer === culprit && isSlow(cause)) writer.reject(problem)
      else if (inCompany && (writer === culprit || tries >= triesMax)) alone(writer)
      else if (inCompany) together.push(writer)
      else if (isCollision(cause) && tries < triesMax) alone(writer)
      else writer.reject(problem)
    }
    this.#queue.unshift(...together)
  }
}
