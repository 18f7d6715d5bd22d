/** One metric: a sentence about it, the names of its labels, and its values as lines of the text format of Prometheus 0.0.4. */
export interface Series {
  readonly kind: 'counter' | 'gauge' | 'histogram'
  readonly help: string
  readonly labels: readonly string[]
  lines(name: string): string[]
}

/** A count that only grows, one for each combination of the words of its labels. No word has a space. */
export class Counter implements Series {
  readonly kind = 'counter'
  readonly help: string
  readonly labels: readonly string[]
  readonly #counts = new Map<string, number>()

  /** @param known begin at zero: Prometheus sees no increase in a count that begins with its first one */
  constructor(help: string, labels: readonly string[], known: readonly string[] = []) {
    this.help = help
    this.labels = labels
    for (const words of known) this.#counts.set(words, 0)
  }

  add(words: string): void {
    this.#counts.set(words, (this.#counts.get(words) ?? 0) + 1)
  }

  lines(name: string): string[] {
    return [...this.#counts].map(([words, value]) => line(name, this.labels, words.split(' '), value))
  }
}

/** Observations in buckets, for each combination of the words of its labels. No word has a space. */
export class Histogram implements Series {
  readonly kind = 'histogram'
  readonly help: string
  readonly labels: readonly string[]
  readonly #bounds: readonly number[]
  /** By the words: a count for each bucket, of which the last has no bound, and the sum. */
  readonly #counts = new Map<string, { readonly inBucket: number[]; sum: number }>()

  /** @param bounds the upper bounds of the buckets, the smallest first */
  constructor(help: string, bounds: readonly number[], labels: readonly string[] = []) {
    this.help = help
    this.#bounds = bounds
    this.labels = labels
    if (labels.length === 0) this.#countsOf('')
  }

  observe(value: number, words = ''): void {
    const counts = this.#countsOf(words)
    const bucket = this.#bounds.findIndex((bound) => value <= bound)
    counts.inBucket[bucket === -1 ? this.#bounds.length : bucket]!++
    counts.sum += value
  }

  lines(name: string): string[] {
    return [...this.#counts].flatMap(([key, { inBucket, sum }]) => {
      const words = key.split(' ')
      let count = 0
      const buckets = [...this.#bounds, '+Inf'].map((bound, at) => {
        count += inBucket[at]!
        return line(`${name}_bucket`, ['le', ...this.labels], [`${bound}`, ...words], count)
      })
      return [
        ...buckets,
        line(`${name}_sum`, this.labels, words, sum),
        line(`${name}_count`, this.labels, words, count),
      ]
    })
  }

  #countsOf(words: string) {
    const counts = this.#counts.get(words) ?? { inBucket: new Array<number>(this.#bounds.length + 1).fill(0), sum: 0 }
    this.#counts.set(words, counts)
    return counts
  }
}

/** Values that were read for one scrape, each with the words of its labels. */
export function gauge(help: string, labels: readonly string[], values: readonly GaugeValue[]): Series {
  const lines = (name: string) => values.map(([value, ...words]) => line(name, labels, words, value))
  return { kind: 'gauge', help, labels, lines }
}

export type GaugeValue = readonly [value: number, ...words: string[]]

function line(name: string, labels: readonly string[], words: readonly string[], value: number): string {
  const pairs = labels.map((label, at) => `${label}=${JSON.stringify(words[at])}`)
  return `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}`
}
