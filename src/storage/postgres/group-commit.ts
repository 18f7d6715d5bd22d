import { Problem } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import { Collision, type NoteCommit, type Transaction } from '../database.ts'
import { runHook } from '../run-hook.ts'
import { RowsLock } from './advisory-lock.ts'
import { Gate } from './gate.ts'
import { Group, groupMax, type Locks } from './group.ts'
import {
  isCollision,
  isConnectionLost,
  isDeadlock,
  isOutage,
  isSlow,
  storageProblem,
  uncertain,
} from './storage-problem.ts'
import type { WriteConnection } from './write-connection.ts'
import type { Loss, Queue, Result, Writer } from './writer.ts'

/** How long a group waits at the gate. Then it waits in the database, where PostgreSQL can detect a deadlock. */
const patienceMs = 1_000
/** How often a writer is run if other writers change what it has read. */
const triesMax = 4

/** The queue of a group with one writer that failed together with others: it accepts no more writers. */
const noOthers: Queue = {
  take: () => [],
  listen: () => ({ arrived: new Promise(() => {}), stop() {} }),
}

/** A connection, and the loop that runs groups on it, if there is one. */
interface Lane {
  readonly connection: WriteConnection
  draining: Promise<void> | undefined
}

/**
 * The writing side of the PostgreSQL engine. Writers queue; all that wait when a connection becomes free share one
 * transaction. While one group commits, the next one runs on another connection. If one writer makes a group fail, that writer
 * is run again alone and the others are run again together.
 */
export class GroupCommit {
  readonly #lanes: readonly Lane[]
  readonly #clock: Clock
  readonly #queue: Writer[] = []
  /** Writers that failed together with others. */
  readonly #alone: Writer[] = []
  readonly #locks: Locks
  readonly #noteCommit: NoteCommit
  /** Called when a writer arrives, by groups that still accept some. */
  readonly #listening = new Set<() => void>()
  #closed = false

  constructor(connections: readonly WriteConnection[], clock: Clock, noteCommit: NoteCommit = () => {}) {
    this.#lanes = connections.map((connection) => ({ connection, draining: undefined }))
    this.#clock = clock
    this.#noteCommit = noteCommit
    this.#locks = { gate: new Gate(patienceMs), rowsLock: new RowsLock(clock) }
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

  /** Refuses new writers, and resolves when the queued ones have ended. */
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
    // After one iteration of the event loop every request that is already on a socket has joined this group.
    await new Promise(setImmediate)
    for (;;) {
      const next = this.#alone.shift()
      const writers = next ? [next] : this.#queue.splice(0, groupMax)
      if (writers.length === 0) break
      await this.#commit(lane, writers, next ? noOthers : this.#waiting)
      await new Promise(setImmediate)
    }
    lane.draining = undefined
  }

  async #commit({ connection }: Lane, writers: readonly Writer[], queue: Queue): Promise<void> {
    try {
      await connection.open()
    } catch (error) {
      // Without a connection the waiting writers fail too.
      const problem = storageProblem(error)
      for (const writer of [...writers, ...this.#alone.splice(0), ...this.#queue.splice(0)]) writer.reject(problem)
      return
    }
    const group = new Group(connection, this.#locks, queue, this.#clock)
    try {
      const startedAt = performance.now()
      const outcome = await group.run(writers)
      if (!('cause' in outcome)) this.#noteCommit(group.writers.length, performance.now() - startedAt)
      this.#settle(connection, group, outcome)
    } finally {
      group.end()
    }
  }

  #settle(connection: WriteConnection, group: Group, outcome: readonly Result[] | Loss): void {
    if (!('cause' in outcome)) {
      for (const result of outcome) {
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
    if (isConnectionLost(outcome.cause)) connection.discard()
    if (isDeadlock(outcome.cause)) this.#locks.rowsLock.deadlocked()
    this.#runAgain(group.writers, outcome)
  }

  readonly #waiting: Queue = {
    take: (max) => {
      const taken = this.#queue.splice(0, max)
      if (this.#queue.length > 0) this.#startLane()
      return taken
    },
    listen: () => {
      let announce = (): void => {}
      const arrived = new Promise<void>((resolve) => {
        announce = resolve
      })
      if (this.#queue.length > 0) announce()
      else this.#listening.add(announce)
      return { arrived, stop: () => this.#listening.delete(announce) }
    },
  }

  /** The group was rolled back: runs each writer again where that can help, and rejects the others. */
  #runAgain(writers: readonly Writer[], { cause, culprit, uncertain: isUncertain }: Loss): void {
    if (isUncertain) {
      const problem = uncertain(cause)
      for (const writer of writers) writer.reject(problem)
      return
    }
    const problem = storageProblem(cause)
    const wereSeveral = writers.length > 1
    const together: Writer[] = []
    const alone = (writer: Writer): void => {
      // Tries together with others do not count: another writer may have made them fail.
      if (wereSeveral) writer.tries = 0
      this.#alone.push(writer)
    }
    for (const writer of writers) {
      const tries = ++writer.tries
      if (isOutage(cause)) {
        // The next connection may work: the first failure of a connection is retried.
        if (isConnectionLost(cause) && tries === 1) together.push(writer)
        else writer.reject(problem)
      } else if (writer === culprit && isSlow(cause)) writer.reject(problem)
      else if (wereSeveral && (writer === culprit || tries >= triesMax)) alone(writer)
      else if (wereSeveral) together.push(writer)
      else if (isCollision(cause) && tries < triesMax) alone(writer)
      else writer.reject(problem)
    }
    this.#queue.unshift(...together)
  }
}
