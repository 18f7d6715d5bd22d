import type { Database } from 'better-sqlite3'

/** Pages of the write-ahead log. */
export interface LogSize {
  /** Written since the log began again at its start. */
  readonly pages: number
  /** Moved into the store by checkpoints. */
  readonly moved: number
}

type Row = readonly [busy: number, pages: number, moved: number]

/** Returns a reader of the log's size, which makes no checkpoint. Its connection may have no open transaction. */
export function logSizeReader(connection: Database): () => LogSize {
  const read = connection.prepare<[], Row>('pragma wal_checkpoint(NOOP)').raw()
  return () => {
    const [, pages, moved] = read.get()!
    return { pages, moved }
  }
}
