import type { Asked, Closing, Transaction } from './database.ts'
import { asked } from './pipelined.ts'

/** What the writers of a group leave for the end of their transaction, by what is to be done with it. */
export class Closings {
  readonly #items = new Map<Closing<unknown>, unknown[]>()

  add<Item>(closing: Closing<Item>, item: Item): void {
    const items = this.#items.get(closing as Closing<unknown>)
    if (items) items.push(item)
    else this.#items.set(closing as Closing<unknown>, [item])
  }

  /** Takes over what another writer left. */
  join(other: Closings): void {
    for (const [closing, items] of other.#items) {
      for (const item of items) this.add(closing, item)
    }
  }

  get isEmpty(): boolean {
    return this.#items.size === 0
  }

  /** Does it all. `tx` is a transaction whose own end is this. */
  async run(tx: Transaction): Promise<Asked> {
    const last: Transaction = {
      ...tx,
      atEnd: () => {
        throw new Error('What is done at the end of a transaction leaves nothing for its end.')
      },
    }
    let done = asked()
    for (const [closing, items] of this.#items) {
      await done.answered
      done = await closing(last, items)
    }
    return done
  }
}
