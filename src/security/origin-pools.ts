import type { LookupAddress } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { Pool } from 'undici'
import type { Payer } from '../lib/fair-gate.ts'

export interface OriginPoolsOptions {
  /** Looks names up for one origin: `payer` answers for whom, `dialling` hears what is about to be dialled. */
  lookup: (payer: () => Payer, dialling: (addresses: readonly LookupAddress[]) => void) => LookupFunction
  /** Whether anybody may reach this address. */
  isPublic: (address: string) => boolean
  connectTimeoutMs: number
  connectionsPerOrigin: number
  originsMax: number
  originsOfAgentMax: number
}

/** Kept-alive connections to one origin. */
export interface OriginPool {
  readonly pool: Pool
  /** Who opened it: it counts among that agent's. */
  readonly openedBy: string
  /** Who asked last: a new connection is opened for it. */
  payer: Payer
  /** Whether every address that was ever dialled is one that anybody may reach. */
  isPublic: boolean
}

/**
 * One pool of kept-alive connections per origin: a slow receiver fills its own pool and nobody else's. An agent with many
 * origins closes its own connections to make room, not the others'.
 */
export class OriginPools {
  readonly #options: OriginPoolsOptions
  /** In order of last use, because a Map keeps the order of insertion. */
  readonly #pools = new Map<string, OriginPool>()
  readonly #counts = new Map<string, number>()
  readonly #closing = new Set<Promise<void>>()

  constructor(options: OriginPoolsOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#pools.size
  }

  /** Whether a connection to `origin` is open and has nothing to do. */
  hasFree(origin: string): boolean {
    return (this.#pools.get(origin)?.pool.stats.free ?? 0) > 0
  }

  /** The pool of `origin`, now the most recently used one. Use it before the next await. */
  take(origin: string, payer: Payer, literal: string | undefined): OriginPool {
    const known = this.#pools.get(origin) ?? this.#open(origin, payer, literal)
    known.payer = payer
    this.#pools.delete(origin)
    this.#pools.set(origin, known)
    return known
  }

  /** Lets running requests finish (each has its own timeout), then closes every connection. */
  async close(): Promise<void> {
    for (const origin of [...this.#pools.keys()]) this.#retire(origin)
    await Promise.all(this.#closing)
  }

  #open(origin: string, payer: Payer, literal: string | undefined): OriginPool {
    const { agentId } = payer
    const { originsMax, originsOfAgentMax, isPublic } = this.#options
    const count = this.#counts.get(agentId) ?? 0
    if (count >= originsOfAgentMax) this.#evictOldestIdle((opened) => opened.openedBy === agentId)
    else if (this.#pools.size >= originsMax) this.#evictOldestIdle(() => true)
    this.#counts.set(agentId, (this.#counts.get(agentId) ?? 0) + 1)
    const opened: OriginPool = {
      pool: this.#newPool(
        origin,
        () => opened.payer,
        (addresses) => {
          opened.isPublic &&= addresses.every(({ address }) => isPublic(address))
        },
      ),
      openedBy: agentId,
      payer,
      isPublic: literal === undefined || isPublic(literal),
    }
    return opened
  }

  #newPool(origin: string, payer: () => Payer, dialling: (addresses: readonly LookupAddress[]) => void): Pool {
    return new Pool(origin, {
      connections: this.#options.connectionsPerOrigin,
      pipelining: 1,
      connect: {
        lookup: this.#options.lookup(payer, dialling),
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

  /** When every pool is busy there may be more of them than the limit for a while. */
  #evictOldestIdle(mayGo: (opened: OriginPool) => boolean): void {
    for (const [origin, opened] of this.#pools) {
      if (opened.pool.stats.size > 0 || !mayGo(opened)) continue
      this.#retire(origin)
      return
    }
  }

  #retire(origin: string): void {
    const { pool, openedBy } = this.#pools.get(origin)!
    this.#pools.delete(origin)
    const left = this.#counts.get(openedBy)! - 1
    if (left > 0) this.#counts.set(openedBy, left)
    else this.#counts.delete(openedBy)
    const closing = pool.close().finally(() => this.#closing.delete(closing))
    this.#closing.add(closing)
  }
}
