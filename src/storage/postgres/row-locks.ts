import type { AtWork } from './at-work.ts'

/** Who may change a row among the writers of one transaction: to the database they are one, and it keeps none of them apart. */
export class RowLocks<Holder> {
  readonly #holders = new Map<string, { holder: Holder; waiting: (() => void)[] }>()
  readonly #atWork: Pick<AtWork, 'start' | 'stop'>

  /** `atWork` learns of a writer that waits, and of one that goes on. */
  constructor(atWork: Pick<AtWork, 'start' | 'stop'>) {
    this.#atWork = atWork
  }

  /** Takes the row. Resolves when it is the holder's; undefined where somebody else has it and `mayWait` is false. */
  async take(row: string, holder: Holder, mayWait: boolean): Promise<'taken' | undefined> {
    for (;;) {
      const held = this.#holders.get(row)
      if (!held) {
        this.#holders.set(row, { holder, waiting: [] })
        return 'taken'
      }
      if (held.holder === holder) return 'taken'
      if (!mayWait) return undefined
      const freed = new Promise<void>((resolve) => held.waiting.push(resolve))
      this.#atWork.stop()
      await freed
      this.#atWork.start()
    }
  }

  /** Frees what the holder has. */
  release(holder: Holder): void {
    for (const [row, held] of this.#holders) {
      if (held.holder !== holder) continue
      this.#holders.delete(row)
      for (const resume of held.waiting) resume()
    }
  }
}
