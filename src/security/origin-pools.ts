import type { LookupAddress } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { buildConnector, type Dispatcher, Pool } from 'undici'
import type { Payer } from '../lib/fair-places.ts'
import { type ConnectionOptions, type ExchangeOptions, KeptConnection } from './kept-connection.ts'
import type { ProxyTunnels } from './proxy-tunnels.ts'

interface OriginPoolsOptions {
  /** Makes the look-up of one origin: `payer` returns on whose account it runs, `dialling` is called with the address to be dialled. */
  lookup: (payer: () => Payer, dialling: (addresses: readonly LookupAddress[]) => void) => LookupFunction
  /** True when an address is public. */
  isPublic: (address: string) => boolean
  /** Undefined: every address is dialled. */
  tunnels?: ProxyTunnels | undefined
  connectTimeoutMs: number
  connectionsPerOrigin: number
  originsMax: number
  originsOfAgentMax: number
}

/** Kept-alive connections to one origin. */
export interface OriginPool {
  readonly pool: Pool
  /** Sends one request over a new connection, which is closed after it. */
  readonly dispatchAlone: (options: ExchangeOptions, handler: Dispatcher.DispatchHandler) => void
  /** The agent that opened the pool; it counts as one of that agent's. */
  readonly openedBy: string
  /** The agent of the last request: a new connection is opened on its account. */
  payer: Payer
  /** True when all addresses dialled so far are public. */
  isPublic: boolean
}

/**
 * One pool of kept-alive connections per origin: a slow receiver fills its own pool only. An agent with many origins closes its own
 * connections to make room, not those of other agents.
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

  /** True when a connection to `origin` is open and idle. */
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
    const options = this.#connectionOptions(
      () => opened.payer,
      (addresses) => {
        opened.isPublic &&= addresses.every(({ address }) => isPublic(address))
      },
    )
    const opened: OriginPool = {
      pool: new Pool(origin, {
        ...options,
        connections: this.#options.connectionsPerOrigin,
        factory: (to) => new KeptConnection(to, options),
      }),
      dispatchAlone: (request, handler) => {
        const connection = new KeptConnection(origin, options)
        connection.dispatch(request, handler)
        this.#whileClosing(connection.close())
      },
      openedBy: agentId,
      payer,
      isPublic: literal === undefined || isPublic(literal),
    }
    return opened
  }

  #connectionOptions(payer: () => Payer, dialling: (addresses: readonly LookupAddress[]) => void): ConnectionOptions {
    const { tunnels } = this.#options
    const lookup = this.#options.lookup(payer, dialling)
    const direct = buildConnector({
      lookup,
      timeout: this.#options.connectTimeoutMs,
      autoSelectFamily: true,
      // Node's default of 250 ms gives up on healthy addresses with a slow handshake, such as one across an ocean.
      autoSelectFamilyAttemptTimeout: 500,
    })
    return {
      pipelining: 1,
      connect: tunnels ? tunnels.connector(lookup, direct) : direct,
      maxHeaderSize: 64 * 1024,
      // The total timeout of each request covers both, and these two would keep timers of their own.
      headersTimeout: 0,
      bodyTimeout: 0,
    }
  }

  /** Closes the least recently used idle pool that may go. While all are busy, there may be more pools than the limit. */
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
    this.#whileClosing(pool.close())
  }

  #whileClosing(closed: Promise<void>): void {
    const closing = closed.finally(() => this.#closing.delete(closing))
    this.#closing.add(closing)
  }
}
