import type { Clock } from '../../../lib/clock.ts'
import { CheckpointThread } from './checkpoint-thread.ts'
import { WalIndex } from './wal-index.ts'

/** Pages: 24 MB. A page that changes often is moved once for many changes. Well below the size at which the writer's own connection makes a checkpoint. */
const dueAt = 6_000

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
  readonly #index: WalIndex
  readonly #clock: Clock
  /** The log's pages at the end of the last checkpoint. As long as another process reads, the log does not begin again. */
  #pagesBefore = 0
  #running: Promise<void> | undefined
  #isLastDue = false

  constructor(storePath: string, clock: Clock, thread = new CheckpointThread(storePath)) {
    this.#thread = thread
    this.#index = new WalIndex(storePath)
    this.#clock = clock
  }

  /** Before a group of writers begins: starts a checkpoint if one is due. Returns what the group has to wait for, if anything. */
  beforeGroup(): Promise<void> | undefined {
    if (this.#isLastDue) {
      this.#isLastDue = false
      return this.#briefly(this.#start(this.#makeLast()))
    }
    if (!this.#running && this.#isDue()) void this.#start(this.#makeMost())
    return undefined
  }

  /** Resolves when no checkpoint is being made, or when one takes too long. */
  async settled(): Promise<void> {
    if (this.#running) await this.#briefly(this.#running)
  }

  /** Ends the thread. Call it before the store's connections are closed, and `closeFiles` after. */
  async close(): Promise<void> {
    await this.#thread.stop()
    await this.#running
  }

  closeFiles(): void {
    this.#index.close()
    this.#thread.closeFile()
  }

  #isDue(): boolean {
    const { pages } = this.#index
    if (pages < this.#pagesBefore) this.#pagesBefore = 0
    return pages - this.#pagesBefore >= dueAt
  }

  #start(work: Promise<void>): Promise<void> {
    this.#running = work.finally(() => {
      this.#pagesBefore = this.#index.pages
      this.#running = undefined
    })
    return this.#running
  }

  async #makeMost(): Promise<void> {
    const index = this.#index
    let isMade = true
    for (let i = 0; isMade && i < mostBeforeLast && index.pages - index.moved > fewLeft; i++) {
      isMade = await this.#thread.checkpoint()
    }
    this.#isLastDue = isMade && index.moved < index.pages
  }

  async #makeLast(): Promise<void> {
    await this.#thread.checkpoint()
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
