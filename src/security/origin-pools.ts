import type { LookupFunction } from 'node:net'
import { Pool } from 'undici'

export interface OriginPoolsOptions {
  lookup: LookupFunction
  connectTimeoutMs: number
  connectionsPerOrigin: number
  originsMax: number
}

/** One pool of kept-alive connections per origin: a slow receiver fills its own pool and nobody else's. */
export class OriginPools {
  readonly #options: OriginPoolsOptions
  /** In order of last use, because a Map keeps the order of insertion. */
  readonly #pools = new Map<string, Pool>()
  readonly #closing = new Set<Promise<void>>()

  constructor(options: OriginPoolsOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#pools.size
  }

  /** The pool of `origin`, now the most recently used one. Use it before the next await. */
  take(origin: string): Pool {
    const pool = this.#pools.get(origin) ?? this.#open(origin)
    this.#pools.delete(origin)
    this.#pools.set(origin, pool)
    return pool
  }

  /** Lets running requests finish (each has its own timeout), then closes every connection. */
  async close(): Promise<void> {
    for (const [origin, pool] of this.#pools) this.#retire(origin, pool)
    await Promise.all(this.#closing)
  }

  #open(origin: string): Pool {
    if (this.#pools.size >= this.#options.originsMax) this.#evictOldestIdle()
    return new Pool(origin, {
      connections: this.#options.connectionsPerOrigin,
      pipelining: 1,
      connect: {
        lookup: this.#options.lookup,
        timeout: this.#options.connectTimeoutMs,
        autoSelectFamily: true,
        // Node's default of 250 ms gives up a healthy address whose handshake crosses an ocean twice.
        autoSelectFamilyAttemptTimeout: 500,
      },
      // The total timeout of each request covers both, and these two would keep timers of their own.
      headersTimeout: 0,
      bodyTimeout: 0,
    })
  }

  /** When every pool is busy there may be more pools than `originsMax` for a while. */
  #evictOldestIdle(): void {
    for (const [origin, pool] of this.#pools) {
      if (pool.stats.size > 0) continue
      this.#retire(origin, pool)
      return
    }
  }

  #retire(origin: string, pool: Pool): void {
    this.#pools.delete(origin)
    const closing = pool.close().finally(() => this.#closing.delete(closing))
    this.#closing.add(closing)
  }
}
