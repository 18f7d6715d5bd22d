import type { Clock } from '../../src/lib/clock.ts'

/** Time that moves only when a test says so. */
export class FakeClock implements Clock {
  #now: number
  readonly #timers = new Set<{ at: number; work: () => void }>()

  constructor(now = Date.parse('2026-04-26T10:00:00.000Z')) {
    this.#now = now
  }

  now(): number {
    return this.#now
  }

  after(delayMs: number, work: () => void): () => void {
    const timer = { at: this.#now + Math.max(0, delayMs), work }
    this.#timers.add(timer)
    return () => this.#timers.delete(timer)
  }

  /** Moves time on and runs what falls due on the way, in order. */
  advance(ms: number): void {
    const target = this.#now + ms
    for (;;) {
      const next = this.#next()
      if (!next || next.at > target) break
      this.#timers.delete(next)
      this.#now = Math.max(this.#now, next.at)
      next.work()
    }
    this.#now = target
  }

  /** The timer that falls due first; of several, the one that was set first. */
  #next(): { at: number; work: () => void } | undefined {
    let first: { at: number; work: () => void } | undefined
    for (const timer of this.#timers) if (!first || timer.at < first.at) first = timer
    return first
  }

  /** The number of timers that end that far from now. */
  timersIn(delayMs: number): number {
    return [...this.#timers].filter(({ at }) => at === this.#now + delayMs).length
  }

  get timerCount(): number {
    return this.#timers.size
  }
}
