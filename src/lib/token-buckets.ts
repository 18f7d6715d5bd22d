/** How much may be taken at once, and how long it takes until all of it is there again. */
export interface Bucket {
  readonly size: number
  readonly windowMs: number
}

/** How many buckets are looked at when there is no room for another one. */
const lookMax = 64

/** A token bucket for each key. Stores only the instant at which a bucket is full again. */
export class TokenBuckets {
  readonly #keysMax: number
  readonly #fullAt = new Map<string, number>()

  constructor(keysMax = 50_000) {
    this.#keysMax = keysMax
  }

  /** Returns the time, in ms, until `count` may be taken, or all of it where that is less; 0: they may. Takes nothing. */
  waitMs(key: string, { size, windowMs }: Bucket, now: number, count = 1): number {
    const missing = (Math.min(count, size) * windowMs) / size
    const waitMs = this.#fullAtOf(key, windowMs, now) + missing - windowMs - now
    // Sums of fractions are not exact.
    return waitMs > 1e-3 ? Math.ceil(waitMs) : 0
  }

  /** Takes `count`, also where there are fewer: what is missing comes back first, and is one whole bucket at most. */
  take(key: string, { size, windowMs }: Bucket, now: number, count = 1): void {
    const fullAt = this.#fullAtOf(key, windowMs, now) + (count * windowMs) / size
    if (!this.#fullAt.has(key)) this.#makeRoom(now)
    this.#fullAt.set(key, Math.min(fullAt, now + 2 * windowMs))
  }

  /** Takes `count` if they are there. Returns the time, in ms, until they are; 0: they are taken. */
  spend(key: string, bucket: Bucket, now: number, count = 1): number {
    const waitMs = this.waitMs(key, bucket, now, count)
    if (waitMs === 0) this.take(key, bucket, now, Math.min(count, bucket.size))
    return waitMs
  }

  /** An instant further ahead than a debt can be is of a clock that was set back since: it would be waited for until the clock is there again. */
  #fullAtOf(key: string, windowMs: number, now: number): number {
    const fullAt = this.#fullAt.get(key) ?? now
    return fullAt > now + 2 * windowMs ? now : Math.max(fullAt, now)
  }

  #makeRoom(now: number): void {
    if (this.#fullAt.size < this.#keysMax) return
    let looked = 0
    for (const [key, fullAt] of this.#fullAt) {
      if (++looked > lookMax) break
      this.#fullAt.delete(key)
      // A bucket that is still needed moves to the end, after those that were not looked at yet.
      if (fullAt > now) this.#fullAt.set(key, fullAt)
    }
    for (const key of this.#fullAt.keys()) {
      if (this.#fullAt.size < this.#keysMax) break
      this.#fullAt.delete(key)
    }
  }
}
