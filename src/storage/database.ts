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
  /**
   * Leaves something to be done at the end of the transaction, behind the work of every writer that shares it: once for all
   * that was left for the same function. It joins the transaction; should it throw, nothing of the transaction is kept.
   */
  beforeCommit<Item>(closing: BeforeCommit<Item>, item: Item): void
}

/** All that there is to do has been asked of the store: the commit may be asked for behind it, before it has answered. */
export interface Pipelined {
  readonly answered: Promise<unknown>
}

/** What is done with everything that was left for the end of a transaction, in the order in which it was left. */
export type BeforeCommit<Item> = (tx: Transaction, items: readonly Item[]) => Promise<Pipelined>

/**
 * Thrown by work that finds what it read changed by somebody else before it could write: it is run again from its start. On
 * an engine that lets one writer in at a time it never happens.
 */
export class Collision extends Error {}

/**
 * The one door to the store. Writers that arrive together share a commit, so that one fsync answers many;
 * a writer that throws takes back only what it wrote itself.
 */
export interface Database extends Reader, AsyncDisposable {
  /**
   * Resolves when the commit is durable; rejects with what `work` threw, or with `storage-unavailable`. Other writers may run
   * meanwhile, and see what it wrote: what it reads holds until its next statement and no longer, unless it was read with a
   * lock. `work` may be run more than once; what it did in vain is forgotten, hooks included.
   */
  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T>
  close(): Promise<void>
}
