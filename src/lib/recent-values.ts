/** Caches the values that were made for the latest keys, so that hundreds of simultaneous callers with the same key share one. */
export class RecentValues<Key extends object, Value> {
  readonly #max: number
  readonly #values = new Map<Key, Value>()

  /** @param max how many keys it remembers */
  constructor(max: number) {
    this.#max = max
  }

  /** Returns the value of a key, made by `make` unless it is remembered. A promise that rejects is forgotten. */
  of(key: Key, make: (key: Key) => Value): Value {
    const known = this.#values.get(key)
    if (known !== undefined) return known
    const value = make(key)
    this.#values.set(key, value)
    if (this.#values.size > this.#max) this.#values.delete(this.#values.keys().next().value!)
    if (value instanceof Promise) value.catch(() => this.#values.delete(key))
    return value
  }
}
