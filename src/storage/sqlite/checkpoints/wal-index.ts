import { closeSync, openSync, readSync } from 'node:fs'

/** Offsets of 32-bit numbers in the index: "WAL-Index Header" in SQLite's "WAL-mode File Format" (walformat.html, 2.1). */
const offsets = { mxFrame: 16, nBackfill: 96 }

/** The header of the write-ahead log's index, which SQLite keeps beside the log. Read on the writer's thread: nobody else changes the size of the log. */
export class WalIndex {
  readonly #fd: number
  readonly #number = new Uint32Array(1)

  /** Opens the index. The store must be open in WAL mode, and may be closed only before the index. */
  constructor(storePath: string) {
    this.#fd = openSync(`${storePath}-shm`, 'r')
  }

  /** The pages in the log, written since it began again at its start. */
  get pages(): number {
    return this.#read(offsets.mxFrame)
  }

  /** How many of them a checkpoint has moved into the store. */
  get moved(): number {
    return this.#read(offsets.nBackfill)
  }

  close(): void {
    closeSync(this.#fd)
  }

  #read(offset: number): number {
    readSync(this.#fd, this.#number, 0, 4, offset)
    return this.#number[0]!
  }
}
