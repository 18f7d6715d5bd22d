/** How many requests of one credential begin in a turn of the event loop while others send requests too. */
const few = 2
/** How long a caller counts as active after a request, in ms. */
const aboutMs = 1_000
/** More that wait for one credential begin at once: waiting must not cost more memory than beginning. */
const waitingMax = 1_000

/**
 * Spreads the requests of one credential over turns of the event loop while other credentials send requests too. The work before the key
 * is checked is done without a pause, so hundreds of requests that arrive together would delay all other callers. A request waits only for
 * requests of its own credential, and not at all if no other credential is active.
 */
export class RequestTurns {
  readonly #now: () => number
  readonly #begun = new Map<string, number>()
  readonly #waiting = new Map<string, (() => void)[]>()
  #isScheduled = false
  #last: string | undefined
  #othersUntil = Number.NEGATIVE_INFINITY

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** Begins now, or in a later turn. @param credential whose request it is, as the request says it */
  begin(credential: string, work: () => void): void {
    if (this.#last !== credential) {
      if (this.#last !== undefined) this.#othersUntil = this.#now() + aboutMs
      this.#last = credential
    }
    const waiting = this.#waiting.get(credential)
    if (waiting && waiting.length < waitingMax) return void waiting.push(work)
    const begun = this.#begun.get(credential) ?? 0
    this.#schedule()
    if (begun >= few && !waiting && this.#now() <= this.#othersUntil) return void this.#waiting.set(credential, [work])
    this.#begun.set(credential, begun + 1)
    work()
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => this.#turn())
  }

  #turn(): void {
    this.#isScheduled = false
    this.#begun.clear()
    for (const [credential, waiting] of this.#waiting) {
      const next = waiting.splice(0, few)
      if (waiting.length === 0) this.#waiting.delete(credential)
      this.#begun.set(credential, next.length)
      this.#schedule()
      for (const work of next) work()
    }
  }
}
