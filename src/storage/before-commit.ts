import type { BeforeCommit, PipelinedStatements, Transaction } from './database.ts'
import { pipelined } from './pipelined.ts'

/** Work that the writers of a group deferred to the end of their transaction, by the function that does it. */
export class BeforeCommitWork {
  readonly #items = new Map<BeforeCommit<unknown>, unknown[]>()

  add<Item>(closing: BeforeCommit<Item>, item: Item): void {
    const items = this.#items.get(closing as BeforeCommit<unknown>)
    if (items) items.push(item)
    else this.#items.set(closing as BeforeCommit<unknown>, [item])
  }

  /** Adds what another writer deferred. */
  join(other: BeforeCommitWork): void {
    for (const [closing, items] of other.#items) {
      for (const item of items) this.add(closing, item)
    }
  }

  get isEmpty(): boolean {
    return this.#items.size === 0
  }

  /** Does all of it in `tx`, which accepts no more deferred work. */
  async run(tx: Transaction): Promise<PipelinedStatements> {
    const last: Transaction = {
      ...tx,
      beforeCommit: () => {
        throw new Error('Work before the commit cannot defer more work.')
      },
    }
    const all = [...this.#items]
    let done = pipelined()
    for (const [closing, items] of all.filter(([{ isLast }]) => !isLast)) {
      await done.answered
      done = await closing(last, items)
    }
    const answers = [done.answered]
    for (const [closing, items] of all.filter(([{ isLast }]) => isLast)) {
      answers.push((await closing(last, items)).answered)
    }
    return pipelined(...answers)
  }
}
