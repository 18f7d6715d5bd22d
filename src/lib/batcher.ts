/** Loads together what is requested in one iteration of the event loop, as DataLoader does. */
export class Batcher<Item, Answer> {
  readonly #answerAll: (items: readonly Item[]) => Promise<Answer>
  #items: Item[] = []
  #answer: Promise<Answer> | undefined

  constructor(answerAll: (items: readonly Item[]) => Promise<Answer>) {
    this.#answerAll = answerAll
  }

  /** Returns the result for these items and all others of this iteration. */
  load(items: readonly Item[]): Promise<Answer> {
    for (const item of items) this.#items.push(item)
    this.#answer ??= this.#answerSoon()
    return this.#answer
  }

  async #answerSoon(): Promise<Answer> {
    await new Promise(setImmediate)
    const items = this.#items
    this.#items = []
    this.#answer = undefined
    return this.#answerAll(items)
  }
}
