import type { FairQueue, Member } from '../../lib/fair-queue.ts'

/**
 * The place of a request among those that are processed. A request that waits for something steps out meanwhile: others wait for the
 * requests that are inside, and it does nothing.
 */
export class QueuePlace {
  readonly #queue: FairQueue
  readonly #enter: () => Member | Promise<Member>
  /** undefined: the request is outside. */
  #member: Member | undefined
  /** How many parts of the request wait outside. */
  #outside = 0
  #isOver = false

  constructor(queue: FairQueue, member: Member, enter: () => Member | Promise<Member>) {
    this.#queue = queue
    this.#member = member
    this.#enter = enter
  }

  /** Waits outside. Resolves when the request is inside again, or over. */
  async outside<T>(wait: () => Promise<T>): Promise<T> {
    this.#outside += 1
    this.#leave()
    try {
      return await wait()
    } finally {
      this.#outside -= 1
      if (this.#outside === 0 && !this.#isOver) this.#take(await this.#enter())
    }
  }

  /** Steps out for good: nothing is done for the request any more, but its answer is not read yet. */
  stepOut(): void {
    this.#leave()
  }

  /** Ends the request. False: it has ended before. */
  end(): boolean {
    if (this.#isOver) return false
    this.#isOver = true
    this.#leave()
    return true
  }

  #take(member: Member): void {
    if (this.#isOver || this.#outside > 0 || this.#member) this.#queue.leave(member)
    else this.#member = member
  }

  #leave(): void {
    if (this.#member) this.#queue.leave(this.#member)
    this.#member = undefined
  }
}
