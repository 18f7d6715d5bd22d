import type { Database } from 'better-sqlite3'
import type { Clock } from '../../lib/clock.ts'
import { isSqliteError } from './storage-problem.ts'

/** After a checkpoint that failed. It takes tens of milliseconds, which a gateway whose disk stays full must not spend on every request. */
const pauseMs = 1_000

/**
 * Room in the write-ahead log when its file cannot grow: the disk is full. A checkpoint moves the log's content into the database
 * file, and the next commit writes from the log's start again. It succeeds while the database file has free pages, or little to
 * add. Without it the log would only be reused at 24 MB, a size that a full disk never lets it reach.
 */
export class WalRoom {
  readonly #writer: Database
  readonly #clock: Clock
  #failedAt = Number.NEGATIVE_INFINITY

  constructor(writer: Database, clock: Clock) {
    this.#writer = writer
    this.#clock = clock
  }

  /** True when the log has room again after a commit that failed with this error, so that the commit is worth another try. */
  makeAfter(error: unknown): boolean {
    // SQLITE_IOERR_WRITE: a quota, or a limit of the file's size.
    if (!isSqliteError(error) || !/^SQLITE_(FULL|IOERR_WRITE)$/.test(error.code)) return false
    if (Math.abs(this.#clock.now() - this.#failedAt) < pauseMs) return false
    try {
      // Never waits: a reader in another process keeps what it needs.
      this.#writer.pragma('wal_checkpoint(PASSIVE)')
      return true
    } catch {
      this.#failedAt = this.#clock.now()
      return false
    }
  }
}
