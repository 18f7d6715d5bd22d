/** How many subscriptions are counted. Beyond it all counts are dropped, and the next pass looks at every subscription. */
const countedMax = 50_000

/** The subscriptions that a pass of the trim looks at: `all`, or those that got enough rows. */
type ToTrim = 'all' | readonly string[]

/**
 * How many held events and deliveries each subscription got on this gateway since it was last trimmed. Counted in memory, so that an
 * event needs no further statement. At the start nothing is known: the first pass looks at every subscription.
 */
export class KeptCounts {
  readonly #counts = new Map<string, number>()
  #knowsAll = false

  add(subscriptionId: string): void {
    if (this.#counts.size >= countedMax && !this.#counts.has(subscriptionId)) {
      this.#counts.clear()
      this.#knowsAll = false
    }
    this.#counts.set(subscriptionId, (this.#counts.get(subscriptionId) ?? 0) + 1)
  }

  of(subscriptionId: string): number {
    return this.#counts.get(subscriptionId) ?? 0
  }

  /** The subscriptions that got at least so many rows. */
  toTrim(atLeast: number): ToTrim {
    if (!this.#knowsAll) {
      this.#knowsAll = true
      return 'all'
    }
    return [...this.#counts].filter(([, count]) => count >= atLeast).map(([id]) => id)
  }

  /** A subscription is trimmed now: it is counted from zero again. */
  reset(subscriptionId: string): void {
    this.#counts.delete(subscriptionId)
  }

  /** A pass has failed: the next one looks at everything. */
  forget(): void {
    this.#knowsAll = false
  }
}
