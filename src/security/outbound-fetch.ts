import dns from 'node:dns'
import { Problem } from '../errors.ts'
import { type AddressPolicy, createAddressPolicy } from './address-policy.ts'
import { Deadline } from './deadline.ts'
import { guardedLookup, type Lookup } from './guarded-lookup.ts'
import { OriginPools } from './origin-pools.ts'
import { OutboundError, toOutboundError } from './outbound-error.ts'
import { readSnippet } from './response-snippet.ts'
import { judgeUrl, type UrlVerdict } from './url-guard.ts'

export interface OutboundFetchOptions {
  /** CIDRs that may be reached beside public addresses. */
  allow: readonly string[]
  /** Name resolution, TCP and TLS together. */
  connectTimeoutMs?: number
  connectionsPerOrigin?: number
  /** How many origins keep connections; the least recently used idle one makes room. */
  originsMax?: number
  /** In place of `dns.lookup`, for tests. */
  lookup?: Lookup
}

export interface OutboundRequest {
  url: string
  headers: Record<string, string>
  body: Buffer | string
  /** For everything: connecting, waiting in the pool, headers and body. */
  timeoutMs: number
  signal?: AbortSignal
  /** How long a request that is under way when the signal aborts may take to finish. */
  graceMs?: number
}

export interface OutboundResponse {
  status: number
  retryAfter?: string
  /** The first 2 KiB of the body as text. */
  bodySnippet: string
  durationMs: number
}

/** URLs that were judged before: one is written to thousands of times. */
const judgedMax = 10_000

/** The only door to the outside. It never follows a redirect: a 3xx could point inside the network. */
export class OutboundFetch implements AsyncDisposable {
  readonly #policy: AddressPolicy
  readonly #pools: OriginPools
  readonly #judged = new Map<string, UrlVerdict>()
  #closed = false

  /** Throws an Error that names a bad entry of `allow`. */
  constructor(options: OutboundFetchOptions) {
    this.#policy = createAddressPolicy(options.allow)
    this.#pools = new OriginPools({
      lookup: guardedLookup(this.#policy, options.lookup ?? dns.lookup),
      connectTimeoutMs: options.connectTimeoutMs ?? 5000,
      connectionsPerOrigin: options.connectionsPerOrigin ?? 64,
      originsMax: options.originsMax ?? 1024,
    })
  }

  /**
   * The URL if a webhook may be registered for it, as far as its text tells; names are resolved when they are dialled.
   * Throws `invalid-request` or `url-not-allowed`, naming `field`.
   */
  checkUrl(url: string, field = 'url'): URL {
    const verdict = judgeUrl(url, this.#policy)
    if (!verdict.ok) throw new Problem(verdict.code, { detail: `${field}: ${verdict.detail}`, field })
    return verdict.url
  }

  /** Any status is an answer. Throws OutboundError, and nothing else, when there is no complete answer. */
  async post(request: OutboundRequest): Promise<OutboundResponse> {
    const verdict = this.#judge(request.url)
    if (!verdict.ok) throw new OutboundError('refused', verdict.detail)
    if (this.#closed) throw new OutboundError('aborted', 'the gateway is stopping')
    if (request.signal?.aborted) throw new OutboundError('aborted', 'the request was stopped')

    const startedAt = performance.now()
    const deadline = new Deadline(request.timeoutMs, request.signal, request.graceMs)
    try {
      const { statusCode, headers, snippet } = await deadline.over((signal) =>
        this.#exchange(verdict.url, request, signal),
      )
      const retryAfter = [headers['retry-after']].flat()[0]
      return {
        status: statusCode,
        ...(retryAfter === undefined ? {} : { retryAfter }),
        bodySnippet: snippet,
        durationMs: Math.round(performance.now() - startedAt),
      }
    } catch (error) {
      throw toOutboundError(error)
    } finally {
      deadline.clear()
    }
  }

  /** Refuses new requests, lets running ones finish, closes the connections. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#pools.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** What the text of a URL tells is the same each time; what its name leads to is looked at whenever it is dialled. */
  #judge(url: string): UrlVerdict {
    const known = this.#judged.get(url)
    if (known) return known
    const verdict = judgeUrl(url, this.#policy)
    if (this.#judged.size >= judgedMax) this.#judged.clear()
    this.#judged.set(url, verdict)
    return verdict
  }

  async #exchange(url: URL, { headers, body }: OutboundRequest, signal: Deadline) {
    const pool = this.#pools.take(url.origin)
    const answer = await pool.request({ method: 'POST', path: url.pathname + url.search, headers, body, signal })
    return { statusCode: answer.statusCode, headers: answer.headers, snippet: await readSnippet(answer.body) }
  }
}
