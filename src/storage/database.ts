import type { Statement } from './statement.ts'

/** Reads. Outside a transaction a read sees the last commit; inside one it sees the transaction's own writes. */
export interface Reader {
  all<Params extends object, Row>(statement: Statement<Params, Row>, params: Params): Promise<Row[]>
  get<Params extends object, Row>(statement: Statement<Params, Row>, params: Params): Promise<Row | undefined>
}

/** A write transaction. The caller opens it, functions join it; it makes no network request. */
export interface Transaction extends Reader {
  /** The time of the transaction, ms since the epoch. It does not change within the transaction. */
  readonly now: number
  /** Runs a statement and returns how many rows it changed. */
  run<Params extends object>(statement: Statement<Params, unknown>, params: Params): Promise<number>
  /** True when a statement of this transaction has changed something. */
  readonly hasWritten: boolean
  /** Runs a side effect once the commit is on disk. It must not throw. */
  onCommit(work: () => void): void
  /**
   * Defers work to the end of the transaction, after the work of every writer that shares it: the function runs once, with all
   * items that were deferred to it. It is part of the transaction; if it throws, the whole transaction is rolled back.
   */
  beforeCommit<Item>(closing: BeforeCommit<Item>, item: Item): void
}

/** Statements that were sent to the store and may not have answered yet: the commit may be sent after them without waiting. */
export interface PipelinedStatements {
  readonly answered: Promise<unknown>
}

/** Does everything that was deferred to it, in the order in which it was deferred. */
export interface BeforeCommit<Item> {
  (tx: Transaction, items: readonly Item[]): Promise<PipelinedStatements>
  readonly isLast?: true
}

/**
 * Declares work before the commit that runs after all other, under the locks that the other has taken. Its statements are sent
 * without waiting for the answers to theirs.
 */
export function atLast<Item>(closing: BeforeCommit<Item>): BeforeCommit<Item> {
  return Object.assign((tx: Transaction, items: readonly Item[]) => closing(tx, items), { isLast: true as const })
}

/**
 * Thrown by work that finds that another writer has changed what it read: the work is run again from its start. It never happens
 * on an engine with one writer at a time.
 */
export class Collision extends Error {}

/**
 * The only access to the store. Writers that arrive together share a commit, so that one fsync serves many. A writer that throws
 * rolls back only what it wrote itself.
 */
export interface Database extends Reader, AsyncDisposable {
  /** True when it is at the other end of a connection, so that a read may fail where a commit has just succeeded. */
  readonly isRemote: boolean
  /**
   * Resolves when the commit is durable; rejects with what `work` threw, or with `storage-unavailable`. Other writers may run
   * between two statements of `work` and see what it wrote: what it reads may be old at its next statement, unless it was read
   * with a lock. `work` may run more than once; the effects of failed tries are discarded, hooks included.
   */
  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T>
  /** How many bytes the store takes on its disk. */
  size(): Promise<number>
  /**
   * The place that the store is in, after the name of its engine and a colon: that of the last start, `''` where there was none, and the one
   * that this start makes of it. A copy is in another place.
   */
  place(): Promise<{ readonly was: string; readonly is: string }>
  close(): Promise<void>
}

/** Called with each commit that is durable: how many writers shared it, and how long it took from the first statement on, in ms. */
export type NoteCommit = (writers: number, ms: number) => void
