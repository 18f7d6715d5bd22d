import type { Database, Statement } from 'better-sqlite3'
import { type Clock, sleep, steadyClock } from '../../lib/clock.ts'
import type { Logger } from '../../logger/logger.ts'
import { isSqliteError, lockedRemedy } from './storage-problem.ts'

/** How long writers wait for another program. From then on they are refused at once, until the lock is free. */
const waitMs = 5_000
const pauseMs = 20

/**
 * SQLite's lock of the file, which other programs can hold too. SQLite would wait for it on this thread, so that the gateway would answer
 * nobody: the connection is told not to wait, and asks again after a pause.
 */
export class WriteLock {
  readonly #writer: Database
  readonly #begin: Statement
  readonly #clock: Clock
  readonly #log: Logger
  /** When another program was first found to hold the lock. undefined: it was free. */
  #heldSince: number | undefined
  #isReported = false

  constructor(writer: Database, log: Logger, clock: Clock = steadyClock) {
    this.#writer = writer
    this.#clock = clock
    this.#log = log
    writer.pragma('busy_timeout = 0')
    this.#begin = writer.prepare('BEGIN IMMEDIATE')
  }

  /** Begins a transaction that writes. Rejects with SQLite's error. */
  async begin(): Promise<void> {
    while (!this.#tryBegin()) await sleep(this.#clock, pauseMs)
  }

  /** Ends the transaction without what it wrote, unless SQLite has done so already: then the first error is the one to report. */
  rollBack(): void {
    try {
      if (this.#writer.inTransaction) this.#writer.exec('ROLLBACK')
    } catch {}
  }

  /** Returns false while it is worth to try again. */
  #tryBegin(): boolean {
    try {
      this.#begin.run()
    } catch (error) {
      if (!isSqliteError(error) || !error.code.startsWith('SQLITE_BUSY')) throw error
      this.#heldSince ??= this.#clock.now()
      if (this.#clock.now() - this.#heldSince < waitMs) return false
      this.#report()
      throw error
    }
    if (this.#isReported) this.#log.info({}, 'store.unlocked')
    this.#heldSince = undefined
    this.#isReported = false
    return true
  }

  #report(): void {
    if (this.#isReported) return
    this.#isReported = true
    this.#log.error({ file: this.#writer.name, remedy: lockedRemedy }, 'store.locked')
  }
}
