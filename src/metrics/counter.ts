/** One value of a series, with the words of its labels in the order of their names. */
export interface Sample {
  readonly words: readonly string[]
  readonly value: number
}

/** A count that only grows, one for each combination of the words of its labels. No word has a space. */
export class Counter {
  readonly kind = 'counter'
  readonly labels: readonly string[]
  readonly #counts = new Map<string, number>()

  /** @param known begin at zero: Prometheus sees no increase in a count that begins with its first one */
  constructor(labels: readonly string[], known: readonly string[] = []) {
    this.labels = labels
    for (const words of known) this.#counts.set(words, 0)
  }

  add(words: string): void {
    this.#counts.set(words, (this.#counts.get(words) ?? 0) + 1)
  }

  samples(): Sample[] {
    return [...this.#counts].map(([words, value]) => ({ words: words.split(' '), value }))
  }
}
