/** Which subscriptions are not read any more. */
export class LeftSubscriptions {
  readonly #known = new Map<string, AbortController>()

  /** Aborts when a subscription is left. */
  signalOf(id: string): AbortSignal {
    const known = this.#known.get(id) ?? new AbortController()
    this.#known.set(id, known)
    return known.signal
  }

  leave(id: string): void {
    this.#known.get(id)?.abort()
    this.#known.delete(id)
  }

  /** Runs without being waited for: a gateway may name any number of subscriptions. */
  forget(id: string): void {
    this.#known.delete(id)
  }
}
