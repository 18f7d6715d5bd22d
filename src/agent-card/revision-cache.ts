interface Entry<V> {
  readonly revision: string
  readonly value: Promise<V>
  /** 0 until the value is built. */
  weight: number
}

interface Bounds<V> {
  readonly entriesMax: number
  /** Of all values together. */
  readonly weightMax: number
  readonly weigh: (value: V) => number
}

/** Caches the newest revision of a value for each key, and evicts the least recently used keys. */
export class RevisionCache<V> {
  readonly #entries = new Map<string, Entry<V>>()
  readonly #bounds: Bounds<V>
  #weight = 0

  constructor(bounds: Bounds<V>) {
    this.#bounds = bounds
  }

  /** Concurrent callers share one build. A failed build is not cached. */
  get(key: string, revision: string, build: () => Promise<V>): Promise<V> {
    const known = this.#entries.get(key)
    if (known?.revision === revision) {
      this.#entries.delete(key)
      this.#entries.set(key, known)
      return known.value
    }
    this.#remove(key)
    const entry = { revision, value: build(), weight: 0 }
    this.#entries.set(key, entry)
    this.#evict()
    entry.value.then(
      (value) => this.#weigh(key, entry, value),
      () => this.#entries.get(key) === entry && this.#remove(key),
    )
    return entry.value
  }

  get size(): number {
    return this.#entries.size
  }

  #weigh(key: string, entry: Entry<V>, value: V): void {
    // It may have been evicted while it was built.
    if (this.#entries.get(key) !== entry) return
    entry.weight = this.#bounds.weigh(value)
    this.#weight += entry.weight
    this.#evict()
  }

  #evict(): void {
    const { entriesMax, weightMax } = this.#bounds
    for (const key of this.#entries.keys()) {
      if (this.#entries.size <= entriesMax && this.#weight <= weightMax) return
      this.#remove(key)
    }
  }

  #remove(key: string): void {
    this.#weight -= this.#entries.get(key)?.weight ?? 0
    this.#entries.delete(key)
  }
}
