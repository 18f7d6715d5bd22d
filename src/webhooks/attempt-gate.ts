/** Tries in flight at the same time, over all receivers: bounds sockets and memory. */
const totalMax = 1_024
/** Tries in flight to one origin: as many as it keeps connections. */
const originMax = 64
/** What is left to an origin that does not answer: enough to see it recover, too little to be in anybody's way. */
const originMin = 8

interface Origin {
  limit: number
  inFlight: number
  readonly waiting: (() => void)[]
}

/**
 * Bounds the tries in flight, in total and for each origin, and lets waiting origins take turns. An origin that lets tries
 * time out is allowed fewer at a time, down to a few; each answer, whatever its status, gives one back.
 */
export class AttemptGate {
  readonly #origins = new Map<string, Origin>()
  /** Origins with waiters, in the order of their turns. */
  readonly #turns = new Set<string>()
  #inFlight = 0

  get inFlight(): number {
    return this.#inFlight
  }

  /**
   * Takes a place: undefined when there is one, else a wait that ends with true when it has come, or with false when the
   * signal aborted first and no place is held.
   */
  enter(name: string, signal: AbortSignal): Promise<boolean> | undefined {
    const origin = this.#origins.get(name) ?? { limit: originMax, inFlight: 0, waiting: [] }
    this.#origins.set(name, origin)
    if (origin.waiting.length === 0 && this.#hasRoom(origin)) {
      this.#take(origin)
      return undefined
    }
    return new Promise((resolve) => {
      const waiter = (): void => {
        signal.removeEventListener('abort', giveUp)
        resolve(true)
      }
      const giveUp = (): void => {
        origin.waiting.splice(origin.waiting.indexOf(waiter), 1)
        if (origin.waiting.length === 0) this.#turns.delete(name)
        resolve(false)
      }
      origin.waiting.push(waiter)
      this.#turns.add(name)
      signal.addEventListener('abort', giveUp, { once: true })
    })
  }

  /** Gives a place back. `answered`: the receiver took it or refused it in time; false: it kept us waiting. */
  leave(name: string, answered: boolean): void {
    const origin = this.#origins.get(name)!
    this.#inFlight--
    origin.inFlight--
    origin.limit = answered ? Math.min(originMax, origin.limit + 1) : Math.max(originMin, origin.limit >> 1)
    this.#admit()
    if (origin.inFlight === 0 && origin.waiting.length === 0 && origin.limit === originMax) this.#origins.delete(name)
  }

  #admit(): void {
    for (let admitted = true; admitted; ) {
      admitted = false
      for (const name of [...this.#turns]) {
        const origin = this.#origins.get(name)!
        if (!this.#hasRoom(origin)) continue
        // To the end of the queue of turns, so that one with many waiters does not keep the others out.
        this.#turns.delete(name)
        const next = origin.waiting.shift()!
        if (origin.waiting.length > 0) this.#turns.add(name)
        this.#take(origin)
        next()
        admitted = true
      }
    }
  }

  #hasRoom(origin: Origin): boolean {
    return origin.inFlight < origin.limit && this.#inFlight < totalMax
  }

  #take(origin: Origin): void {
    origin.inFlight++
    this.#inFlight++
  }
}
