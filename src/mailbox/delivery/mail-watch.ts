import { type Clock, sleep } from '../../lib/clock.ts'
import type { MailContext } from '../context.ts'

/** One who waits: notified once that there is mail, or that the store failed. */
interface Waiter {
  found(): void
  failed(error: unknown): void
}

/** Returns in how many ms mail ends a wait; undefined: none that is there does. Takes nothing. @param now ms since the epoch */
export type LookForMail = (context: MailContext, agentId: string, now: number) => Promise<number | undefined>

/** A lost notification costs this much time. */
const lookAgainMs = 15_000

/**
 * Looks for mail that ends a wait of an agent, for all who wait for it: each notification costs one look, however many they are. Takes nothing.
 * It is over when nobody waits any more.
 */
export class MailWatch {
  readonly #context: MailContext
  readonly #agentId: string
  readonly #lookFor: LookForMail
  readonly #waiting = new Set<Waiter>()
  readonly #over = new AbortController()
  readonly #leave: () => void
  #bell = new AbortController()
  #isLooking = false

  constructor(context: MailContext, agent: { readonly id: string; readonly projectId: string }, lookFor: LookForMail) {
    this.#context = context
    this.#lookFor = lookFor
    this.#agentId = agent.id
    this.#leave = context.notifier.listen(agent.id, () => this.#bell.abort(), agent.projectId)
  }

  get isOver(): boolean {
    return this.#over.signal.aborted
  }

  /** A look that began before may have missed mail that was there: the next one is for the new waiter too. */
  add(waiter: Waiter): void {
    this.#waiting.add(waiter)
    this.#bell.abort()
    if (!this.#isLooking) void this.#run()
  }

  remove(waiter: Waiter): void {
    this.#waiting.delete(waiter)
    if (this.#waiting.size > 0 || this.isOver) return
    this.#leave()
    this.#over.abort()
    this.#bell.abort()
  }

  async #run(): Promise<void> {
    this.#isLooking = true
    const { clock } = this.#context
    const delay = pace(clock)
    while (!this.isOver) {
      this.#bell = new AbortController()
      const urgent = await this.#look([...this.#waiting])
      if (this.isOver) return
      await sleep(clock, Math.min(urgent ?? lookAgainMs, lookAgainMs), this.#bell.signal)
      await sleep(clock, delay(), this.#over.signal)
    }
  }

  /** Notifies the waiters, in the order in which they came. Returns when the next look is due, in ms. */
  async #look(waiters: readonly Waiter[]): Promise<number | undefined> {
    try {
      const urgent = await this.#lookFor(this.#context, this.#agentId, this.#context.clock.now())
      if (urgent === 0) for (const waiter of waiters) waiter.found()
      return urgent
    } catch (error) {
      for (const waiter of waiters) waiter.failed(error)
      return undefined
    }
  }
}

/** Looks that may follow each other at once, and the time in which one more may. */
const looksMax = 4
const lookEveryMs = 250

/**
 * Returns how long to wait before each look, in ms. The commits of other gateways come without their audience, so each of them could
 * mean mail: without a bound, every waiting agent would look at each of them.
 */
function pace(clock: Clock): () => number {
  let left = looksMax
  let at = clock.now()
  return () => {
    const now = clock.now()
    left = Math.min(looksMax, left + Math.max(0, now - at) / lookEveryMs) - 1
    at = now
    return left >= 0 ? 0 : -left * lookEveryMs
  }
}
