import type { Clock } from '../../../lib/clock.ts'
import type { Connection } from '../connection.ts'
import { CheckpointThread } from './checkpoint-thread.ts'
import { type LogSize, logSizeReader } from './log-size.ts'

/** Pages: 24 MB. A page that changes often is moved once for many changes. Well below the size at which the writer's own connection makes a checkpoint. */
const dueAt = 6_000

/** To read the size of the log costs as much as a statement. So one of this many groups reads it. */
const groupsOfLook = 4

/** Pages that a checkpoint may leave to the last one, for which the writers wait. */
const fewLeft = 400

/** Of the checkpoints that writers do not wait for: under a heavy load each leaves less than the one before it. */
const mostBeforeLast = 4

/** The longest that writers wait for a checkpoint. Afterwards they go on: a commit does not need it. */
const waitMs = 100

/**
 * Checkpoints of the write-ahead log, made on a thread of their own: one takes tens of milliseconds, in which the main thread would
 * answer nobody. Writers go on meanwhile. SQLite begins the log again at its start only when all of it is in the store, so a last
 * checkpoint moves the little that was added, while the next group of writers waits for some milliseconds.
 *
 * Nothing depends on it. If no checkpoint can be made here, the writer's own connection makes one when the log is larger.
 */
export class Checkpoints {
  readonly #thread: CheckpointThread
  readonly #readSize: () => LogSize
  readonly #clock: Clock
  /** The log's pages at the last checkpoint. As long as another process reads, the log does not begin again. */
  #pagesBefore = 0
  #running: Promise<void> | undefined
  #isLastDue = false
  #groups = 0

  /** `writer`: its transactions are those of the groups. */
  constructor(writer: Connection, clock: Clock, thread = new CheckpointThread(writer.raw.name)) {
    this.#thread = thread
    this.#readSize = logSizeReader(writer.raw)
    this.#clock = clock
  }

  /** Before a group of writers begins: starts a checkpoint if one is due. Returns what the group has to wait for, if anything. */
  beforeGroup(): Promise<void> | undefined {
    if (this.#running || (!this.#isLastDue && ++this.#groups % groupsOfLook !== 0)) return undefined
    const { pages, moved } = this.#readSize()
    const hasBegunAgain = pages < this.#pagesBefore
    const isLast = this.#isLastDue && !hasBegunAgain && moved < pages
    this.#isLastDue = false
    if (hasBegunAgain) this.#pagesBefore = 0
    if (isLast) return this.#briefly(this.#start(this.#thread.checkpoint(), pages))
    if (pages - this.#pagesBefore >= dueAt) void this.#start(this.#makeMost(), pages)
    return undefined
  }

  /** Resolves when no checkpoint is being made, or when one takes too long. */
  async settled(): Promise<void> {
    if (this.#running) await this.#briefly(this.#running)
  }

  /** Ends the thread. Call it before the store's connections are closed, and `closeFile` after. */
  async close(): Promise<void> {
    await this.#thread.stop()
    await this.#running
  }

  closeFile(): void {
    this.#thread.closeFile()
  }

  #start(work: Promise<LogSize | undefined>, pages: number): Promise<void> {
    this.#running = work.then((size) => {
      this.#pagesBefore = size?.pages ?? pages
      this.#running = undefined
    })
    return this.#running
  }

  async #makeMost(): Promise<LogSize | undefined> {
    let size = await this.#thread.checkpoint()
    for (let made = 1; size && made < mostBeforeLast && size.pages - size.moved > fewLeft; made++) {
      size = await this.#thread.checkpoint()
    }
    this.#isLastDue = size !== undefined
    return size
  }

  #briefly(work: Promise<void>): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#clock.after(waitMs, resolve)
      void work.then(() => {
        cancel()
        resolve()
      })
    })
  }
}
