/** Caches the newest revision of a value for each key, and evicts the least recently used key. */
export class RevisionCache<V> {
  readonly #entries = new Map<string, { revision: string; value: Promise<V> }>()
  readonly #entriesMax: number

  constructor(entriesMax: number) {
    this.#entriesMax = entriesMax
  }

  /** Concurrent callers share one build. A failed build is not cached. */
  get(key: string, revision: string, build: () => Promise<V>): Promise<V> {
    const known = this.#entries.get(key)
    const entry = known?.revision === revision ? known : { revision, value: build() }
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    if (entry !== known) {
      this.#evict()
      entry.value.catch(() => {
        if (this.#entries.get(key) === entry) this.#entries.delete(key)
      })
    }
    return entry.value
  }

  get size(): number {
    return this.#entries.size
  }

  #evict(): void {
    for (const key of this.#entries.keys()) {
      if (this.#entries.size <= this.#entriesMax) return
      this.#entries.delete(key)
    }
  }
}
