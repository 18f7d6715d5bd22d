import type { BeforeCommit, Pipelined, Transaction } from './database.ts'
import { pipelined } from './pipelined.ts'

/** What the writers of a group leave for the end of their transaction, by what is to be done with it. */
export class BeforeCommitWork {
  readonly #items = new Map<BeforeCommit<unknown>, unknown[]>()

  add<Item>(closing: BeforeCommit<Item>, item: Item): void {
    const items = this.#items.get(closing as BeforeCommit<unknown>)
    if (items) items.push(item)
    else this.#items.set(closing as BeforeCommit<unknown>, [item])
  }

  /** Takes over what another writer left. */
  join(other: BeforeCommitWork): void {
    for (const [closing, items] of other.#items) {
      for (const item of items) this.add(closing, item)
    }
  }

  get isEmpty(): boolean {
    return this.#items.size === 0
  }

  /** Does it all. `tx` is a transaction whose own end is this. */
  async run(tx: Transaction): Promise<Pipelined> {
    const last: Transaction = {
      ...tx,
      beforeCommit: () => {
        throw new Error('What is done at the end of a transaction leaves nothing for its end.')
      },
    }
    let done = pipelined()
    for (const [closing, items] of this.#items) {
      await done.answered
      done = await closing(last, items)
    }
    return done
  }
}
