import { isIP } from 'node:net'
import { Problem } from '../errors.ts'
import type { Payer } from '../lib/fair-places.ts'
import { type Logger, silentLogger } from '../logger/logger.ts'
import { type AddressPolicy, createAddressPolicy } from './address-policy.ts'
import { Deadlines } from './deadlines.ts'
import { type Answer, Exchange } from './exchange.ts'
import { guardedLookup } from './guarded-lookup.ts'
import type { ExchangeOptions } from './kept-connection.ts'
import { NameResolver, type NameResolverOptions } from './name-resolver.ts'
import { type OriginPool, OriginPools } from './origin-pools.ts'
import { OutboundError, toOutboundError } from './outbound-error.ts'
import { outboundLimits } from './outbound-limits.ts'
import { ProxyTunnels } from './proxy-tunnels.ts'
import { judgeUrl, type UrlVerdict } from './url-guard.ts'

/** Headers whose values are secrets. */
const secretHeaders = ['authorization', 'x-a2a-notification-token']

/** Shorter values are not secrets, and occur in ordinary words. */
const secretMin = 4

const inPlace = '[secret]'

export interface OutboundFetchOptions {
  /** CIDRs that may be reached besides public addresses. */
  allow: readonly string[]
  /** TCP and TLS together. */
  connectTimeoutMs?: number
  connectionsPerOrigin?: number
  /** Number of origins with open connections; the least recently used idle one makes room. */
  originsMax?: number
  names?: NameResolverOptions
  /** The URL of the proxy through which public addresses are reached. */
  proxy?: string | undefined
  log?: Logger
}

export interface OutboundRequest {
  url: string
  headers: Record<string, string>
  body: Buffer | string
  /** On whose account the request runs. Look-ups and connections are shared fairly between accounts. */
  payer: Payer
  /** Covers connecting, waiting in the pool and the answer; a body has two seconds after its status. The look-up of the name comes before, with a limit of its own. */
  timeoutMs: number
  signal?: AbortSignal
  /** Time that a request in progress has to finish after the signal aborts. */
  graceMs?: number
}

export interface OutboundResponse {
  status: number
  retryAfter?: string
  /** The first 2 KiB of the body as text. */
  bodySnippet: string
  /** The fault of the body. */
  fault?: string
  /** True when the answer came from a public address. */
  isPublic: boolean
  durationMs: number
}

/** Where a request goes, taken from its URL once. */
interface Destination {
  readonly origin: string
  readonly hostname: string
  readonly path: string
  /** The address in the URL, without brackets; undefined for a name. */
  readonly literal: string | undefined
}

type Judged = { readonly ok: true; readonly to: Destination } | Extract<UrlVerdict, { ok: false }>

/** One for each attempt that may be made at the same time. */
const connectionsToOrigin = outboundLimits.attemptsToOrigin.max + outboundLimits.attemptsOfSlowAgent.max
/** Number of cached verdicts on URLs: one URL is used thousands of times. */
const judgedMax = 10_000

/** The only way to send requests to the outside. It never follows a redirect: a 3xx could point inside the network. */
export class OutboundFetch implements AsyncDisposable {
  readonly #policy: AddressPolicy
  readonly #names: NameResolver
  readonly #pools: OriginPools
  readonly #judged = new Map<string, Judged>()
  readonly #deadlines = new Deadlines()
  #closed = false

  /** Throws an Error that names a bad entry of `allow`. */
  constructor(options: OutboundFetchOptions) {
    this.#policy = createAddressPolicy(options.allow)
    this.#names = new NameResolver(options.names)
    const { connectTimeoutMs = 5_000, proxy, log = silentLogger } = options
    const publicPolicy = createAddressPolicy([])
    const isPublic = (address: string): boolean => publicPolicy.check(address).allowed
    this.#pools = new OriginPools({
      // The look-up before the request is nearly always still cached here.
      lookup: (payer, dialling) =>
        guardedLookup(this.#policy, (hostname) => this.#names.resolve(hostname, payer()), dialling),
      isPublic,
      tunnels: proxy
        ? new ProxyTunnels({ proxy: new URL(proxy), log, timeoutMs: connectTimeoutMs, isPublic })
        : undefined,
      connectTimeoutMs,
      connectionsPerOrigin: options.connectionsPerOrigin ?? connectionsToOrigin,
      originsMax: options.originsMax ?? outboundLimits.originsKept.max,
      originsOfAgentMax: outboundLimits.originsKeptOfAgent.max,
    })
  }

  /**
   * Checks the text of a webhook's URL and returns it parsed. Names are resolved, and their addresses checked, when they are dialled.
   * Throws `invalid-request` or `url-not-allowed`, naming `field`.
   */
  checkUrl(url: string, field = 'url'): URL {
    const verdict = judgeUrl(url, this.#policy)
    if (!verdict.ok) throw new Problem(verdict.code, { detail: `${field}: ${verdict.detail}`, field })
    return verdict.url
  }

  /** Any status is an answer, whatever becomes of its body. Rejects with an OutboundError, and nothing else, when none came. */
  post(request: OutboundRequest): Promise<OutboundResponse> {
    const judged = this.#judge(request.url)
    if (!judged.ok) return Promise.reject(new OutboundError('refused', judged.detail))
    const lookingUp = judged.to.literal !== undefined ? undefined : this.#lookUp(judged.to, request)
    return lookingUp ? lookingUp.then(() => this.#send(judged.to, request)) : this.#send(judged.to, request)
  }

  /** Refuses new requests, lets running ones finish, closes the connections. */
  async close(): Promise<void> {
    this.#closed = true
    this.#names.close()
    await this.#pools.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** Looks the name up if a connection has to be opened. The deadline begins later: a wait for room is not the receiver's fault. */
  #lookUp({ hostname, origin }: Destination, { payer, signal }: OutboundRequest): Promise<unknown> | undefined {
    const isStopped = this.#closed || signal?.aborted
    if (isStopped || this.#names.isKnown(hostname) || this.#pools.hasFree(origin)) return undefined
    return this.#names.resolve(hostname, payer, signal)
  }

  #send({ origin, path, literal }: Destination, request: OutboundRequest): Promise<OutboundResponse> {
    if (this.#closed) return Promise.reject(new OutboundError('aborted', 'the gateway is stopping'))
    if (request.signal?.aborted) return Promise.reject(new OutboundError('aborted', 'the request was stopped'))
    const startedAt = performance.now()
    const { headers, body } = request
    return new Promise((resolve, reject) => {
      const send = (opened: OriginPool, isLast: boolean): void => {
        const exchange = new Exchange(request, (ended, answer, error) => {
          this.#deadlines.forget(ended)
          if (answer) return resolve(responseOf(answer, request, opened, startedAt))
          const failure = toOutboundError(error)
          if (isLast || this.#closed || !ended.isUnheard || failure.kind !== 'reset') return reject(failure)
          send(opened, true)
        })
        const options: ExchangeOptions = { method: 'POST', path, headers, body, exchange }
        this.#deadlines.watch(exchange, startedAt)
        if (isLast) opened.dispatchAlone(options, exchange)
        else opened.pool.dispatch(options, exchange)
      }
      try {
        send(this.#pools.take(origin, request.payer, literal), false)
      } catch (error) {
        reject(toOutboundError(error))
      }
    })
  }

  /** Caches verdicts on the text of URLs. The addresses of names are checked at each dial. */
  #judge(url: string): Judged {
    const known = this.#judged.get(url)
    if (known) return known
    const verdict = judgeUrl(url, this.#policy)
    const judged: Judged = verdict.ok ? { ok: true, to: destinationOf(verdict.url) } : verdict
    if (this.#judged.size >= judgedMax) this.#judged.clear()
    this.#judged.set(url, judged)
    return judged
  }
}

function destinationOf({ origin, hostname, pathname, search }: URL): Destination {
  const host = hostname.replace(/^\[|\]$/g, '')
  return { origin, hostname, path: pathname + search, literal: isIP(host) === 0 ? undefined : host }
}

function responseOf(
  { status, retryAfter, snippet, fault }: Answer,
  { headers }: OutboundRequest,
  { isPublic }: OriginPool,
  startedAt: number,
): OutboundResponse {
  return {
    status,
    ...(retryAfter === undefined ? {} : { retryAfter }),
    bodySnippet: withoutEcho(snippet, headers),
    ...(fault === undefined ? {} : { fault: toOutboundError(fault).message }),
    isPublic,
    durationMs: Math.round(performance.now() - startedAt),
  }
}

/** Removes the secrets of a request from its answer: failing receivers often echo the request, and answers are stored. */
export function withoutEcho(answer: string, sent: Readonly<Record<string, string>>): string {
  if (answer === '') return answer
  let text = answer
  for (const secret of secretsIn(sent)) {
    text = text.replaceAll(secret, inPlace)
    const cut = cutLength(text, secret)
    if (cut > 0) text = text.slice(0, -cut) + inPlace
  }
  return text
}

/** Longest first, because one may be a part of another. */
function secretsIn(sent: Readonly<Record<string, string>>): string[] {
  const secrets = new Set<string>()
  for (const [name, value] of Object.entries(sent)) {
    if (!secretHeaders.includes(name.toLowerCase())) continue
    const credentials = name.toLowerCase() === 'authorization' ? value.replace(/^\S+\s+/, '') : value
    const decoded = /^basic\s/i.test(value) ? Buffer.from(credentials, 'base64').toString() : ''
    for (const secret of [credentials, decoded, decoded.slice(decoded.indexOf(':') + 1)]) {
      for (const form of [secret, encodeURIComponent(secret.toWellFormed()), JSON.stringify(secret).slice(1, -1)]) {
        if (form.length >= secretMin) secrets.add(form)
      }
    }
  }
  return [...secrets].sort((a, b) => b.length - a.length)
}

/** The number of characters of a secret at the end of a text that was cut within it. */
function cutLength(text: string, secret: string): number {
  for (let length = Math.min(secret.length - 1, text.length); length >= secretMin; length--) {
    if (text.endsWith(secret.slice(0, length))) return length
  }
  return 0
}
