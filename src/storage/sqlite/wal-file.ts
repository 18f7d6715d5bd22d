import { closeSync, fdatasync, openSync } from 'node:fs'
import { promisify } from 'node:util'

const sync = promisify(fdatasync)

/**
 * The store's write-ahead log as a file. SQLite writes a commit into it; this class forces it to the disk on another thread, while
 * the next group of writers runs.
 */
export class WalFile {
  readonly #fd: number

  /** Opens the file. The store must be open in WAL mode and have been written to: SQLite keeps the same file until its last connection closes. */
  constructor(storePath: string) {
    this.#fd = openSync(`${storePath}-wal`, 'r+')
  }

  /** Resolves when every commit that was made before this call survives a power cut. */
  flush(): Promise<void> {
    return sync(this.#fd)
  }

  close(): void {
    closeSync(this.#fd)
  }
}
