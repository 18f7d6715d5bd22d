/** How many observations were in a bucket or in a smaller one, for each upper bound; and of all, their count and sum. */
export interface Distribution {
  readonly words: readonly string[]
  readonly buckets: readonly (readonly [bound: number, count: number])[]
  readonly count: number
  readonly sum: number
}

interface Counts {
  /** By bucket; the last one has no bound. */
  readonly inBucket: number[]
  sum: number
}

/** Observations in buckets, for each combination of the words of its labels. No word has a space. */
export class Histogram {
  readonly kind = 'histogram'
  readonly labels: readonly string[]
  readonly #bounds: readonly number[]
  readonly #counts = new Map<string, Counts>()

  /** @param bounds the upper bounds of the buckets, the smallest first */
  constructor(bounds: readonly number[], labels: readonly string[] = []) {
    this.#bounds = bounds
    this.labels = labels
    if (labels.length === 0) this.#countsOf('')
  }

  observe(value: number, words = ''): void {
    const counts = this.#countsOf(words)
    let bucket = 0
    while (bucket < this.#bounds.length && value > this.#bounds[bucket]!) bucket++
    counts.inBucket[bucket]!++
    counts.sum += value
  }

  distributions(): Distribution[] {
    return [...this.#counts].map(([words, { inBucket, sum }]) => {
      let count = 0
      const buckets = this.#bounds.map((bound, at) => {
        count += inBucket[at]!
        return [bound, count] as const
      })
      return { words: words === '' ? [] : words.split(' '), buckets, count: count + inBucket.at(-1)!, sum }
    })
  }

  #countsOf(words: string): Counts {
    const known = this.#counts.get(words)
    if (known) return known
    const counts = { inBucket: new Array<number>(this.#bounds.length + 1).fill(0), sum: 0 }
    this.#counts.set(words, counts)
    return counts
  }
}
