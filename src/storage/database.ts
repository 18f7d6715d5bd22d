import type { Statement } from './statement.ts'

/** Reads. Outside a transaction they see the last commit; inside one they see its own writes. */
export interface Reader {
  all<Params extends object, Row>(statement: Statement<Params, Row>, params: Params): Promise<Row[]>
  get<Params extends object, Row>(statement: Statement<Params, Row>, params: Params): Promise<Row | undefined>
}

/** A write transaction. The caller opens it, the functions join it; no network happens inside. */
export interface Transaction extends Reader {
  /** One instant for the whole transaction, ms since the epoch. */
  readonly now: number
  /** Runs a statement and answers how many rows it changed. */
  run<Params extends object>(statement: Statement<Params, unknown>, params: Params): Promise<number>
  /** Side effects wait here until the commit is on disk. They must not throw. */
  onCommit(work: () => void): void
}

/**
 * The one door to the store. Writers that arrive together share a commit, so that one fsync answers many;
 * a writer that throws takes back only what it wrote itself.
 */
export interface Database extends Reader, AsyncDisposable {
  /** Resolves when the commit is durable; rejects with what `work` threw, or with `storage-unavailable`. */
  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T>
  close(): Promise<void>
}
