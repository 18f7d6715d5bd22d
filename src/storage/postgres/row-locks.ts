import type { RunningWriters } from './running-writers.ts'

/** Row locks between the writers of one transaction: the database sees one transaction, so its own locks do not separate them. */
export class RowLocks<Holder> {
  readonly #locks = new Map<string, { holder: Holder; waiting: (() => void)[] }>()
  readonly #atWork: Pick<RunningWriters, 'start' | 'stop'>

  /** `atWork` counts a waiting writer as stopped. */
  constructor(atWork: Pick<RunningWriters, 'start' | 'stop'>) {
    this.#atWork = atWork
  }

  /** Locks the row and resolves when it is locked. Returns undefined if another writer has locked it and `mayWait` is false. */
  async take(row: string, holder: Holder, mayWait: boolean): Promise<'taken' | undefined> {
    for (;;) {
      const lock = this.#locks.get(row)
      if (!lock) {
        this.#locks.set(row, { holder, waiting: [] })
        return 'taken'
      }
      if (lock.holder === holder) return 'taken'
      if (!mayWait) return undefined
      const freed = new Promise<void>((resolve) => lock.waiting.push(resolve))
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
