import type { RunningWriters } from './running-writers.ts'

/** Row locks between the writers of one transaction: the database sees one transaction, so its own locks do not separate them. */
export class RowLocks<Holder> {
  readonly #locks = new Map<string, { holder: Holder; waiting: (() => void)[] }>()
  readonly #atWork: Pick<RunningWriters, 'start' | 'stop'>

  /** `atWork` counts a waiting writer as stopped. */
  constructor(atWork: Pick<RunningWriters, 'start' | 'stop'>) {
    this.#atWork = atWork
  }

  /**
   * Locks the rows, all at the same time, and resolves when they are locked. Returns undefined if another writer has locked one of them
   * and `mayWait` is false.
   */
  async take(rows: readonly string[], holder: Holder, mayWait: boolean): Promise<'taken' | undefined> {
    for (;;) {
      const others = rows.map((row) => this.#locks.get(row)).find((lock) => lock && lock.holder !== holder)
      if (!others) {
        for (const row of rows) if (!this.#locks.has(row)) this.#locks.set(row, { holder, waiting: [] })
        return 'taken'
      }
      if (!mayWait) return undefined
      const freed = new Promise<void>((resolve) => others.waiting.push(resolve))
      this.#atWork.stop()
      await freed
      this.#atWork.start()
    }
  }

  /** Unlocks all rows of the holder. */
  release(holder: Holder): void {
    for (const [row, lock] of this.#locks) {
      if (lock.holder !== holder) continue
      this.#locks.delete(row)
      for (const resume of lock.waiting) resume()
    }
  }
}
