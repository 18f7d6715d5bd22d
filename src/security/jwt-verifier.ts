import { createHash } from 'node:crypto'
import { decodeJwt, type JWTHeaderParameters, type JWTPayload, jwtVerify } from 'jose'
import { Agent, type Dispatcher, request } from 'undici'
import type { Clock } from '../lib/clock.ts'
import { KiB } from '../limits.ts'
import type { Logger } from '../logger/logger.ts'
import { type AddressPolicy, createAddressPolicy } from './address-policy.ts'
import { guardedLookup } from './guarded-lookup.ts'
import { IssuerKeys } from './issuer-keys.ts'
import type { JwtIssuer } from './jwt-issuers.ts'
import { NameResolver } from './name-resolver.ts'
import { judgeUrl } from './url-guard.ts'

/** The wait for an issuer, in ms, and the size of its discovery document or key set, in bytes. */
const answerMs = 5_000

const documentMax = 256 * KiB

/** Look-ups of issuers' names count as the gateway's own. */
const payer = { projectId: '', agentId: 'issuers' }

/**
 * Reads the documents of issuers. An address from the configuration is dialled without a check; one that an issuer names is
 * checked like a webhook's. Redirects are not followed, and size and time are bounded.
 */
class IssuerFetch implements AsyncDisposable {
  readonly #policy: AddressPolicy
  readonly #names = new NameResolver()
  readonly #trusting: Dispatcher
  readonly #guarded: Dispatcher

  /** @param allow the ranges that webhooks may reach beside public addresses */
  constructor(allow: readonly string[]) {
    this.#policy = createAddressPolicy(allow)
    const timeout = answerMs
    this.#trusting = new Agent({ connections: 2, connect: { timeout } })
    this.#guarded = new Agent({
      connections: 2,
      connect: { timeout, lookup: guardedLookup(this.#policy, (hostname) => this.#names.resolve(hostname, payer)) },
    })
  }

  /** Reads the JSON at a URL. Rejects with an Error that gives the reason of a failure. */
  async readJson(url: string, trustedOrigins: readonly string[]): Promise<unknown> {
    const isTrusted = trustedOrigins.includes(new URL(url).origin)
    if (!isTrusted) this.#requireAllowed(url)
    const answer = await request(url, {
      method: 'GET',
      headers: { accept: 'application/json' },
      dispatcher: isTrusted ? this.#trusting : this.#guarded,
      signal: AbortSignal.timeout(answerMs),
    })
    const text = await readText(answer.body)
    if (answer.statusCode !== 200) throw new Error(`${url} answered ${answer.statusCode}`)
    return JSON.parse(text)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#names.close()
    await Promise.all([this.#trusting.destroy(), this.#guarded.destroy()])
  }

  #requireAllowed(url: string): void {
    const verdict = judgeUrl(url, this.#policy)
    if (!verdict.ok) throw new Error(`${url}: ${verdict.detail}`)
    if (verdict.url.protocol !== 'https:') throw new Error(`${url}: an issuer names its keys by https only`)
  }
}

/** The difference between an issuer's clock and the gateway's. */
const skewSeconds = 30
/** The life of a token: as that of a key, ten years. */
const lifeMaxSeconds = 10 * 366 * 86_400

/** A token whose signature, issuer, audience and time are right. */
export interface VerifiedToken {
  readonly issuer: JwtIssuer
  /** `jwt:…`: the same for every use of the token, and for all tokens of one login if the issuer names the login. */
  readonly keyId: string
  /** ms since the epoch */
  readonly expiresAt: number
  readonly claims: JWTPayload
}

/** How a token is verified. */
export interface VerifyOptions {
  /** Accepts a token that has expired, if it was valid once. */
  readonly mayHaveExpired?: boolean
}

interface VerifierOptions {
  readonly issuers: readonly JwtIssuer[]
  /** The ranges that webhooks may reach beside public addresses. */
  readonly allow: readonly string[]
  readonly clock: Clock
  readonly log: Logger
}

/** Verifies tokens of the configured issuers only. */
export class JwtVerifier implements AsyncDisposable {
  readonly #issuers: ReadonlyMap<string, { issuer: JwtIssuer; keys: IssuerKeys }>
  readonly #fetch: IssuerFetch
  readonly #clock: Clock
  readonly #log: Logger

  constructor({ issuers, allow, clock, log }: VerifierOptions) {
    this.#clock = clock
    this.#log = log
    this.#fetch = new IssuerFetch(allow)
    const keysOf = (issuer: JwtIssuer) =>
      new IssuerKeys(issuer, {
        clock,
        readJson: (url, trusted) => this.#fetch.readJson(url, trusted),
        failed: (error) => log.warn({ err: error, issuer: issuer.issuer }, 'issuer.unreadable'),
      })
    this.#issuers = new Map(issuers.map((issuer) => [issuer.issuer, { issuer, keys: keysOf(issuer) }]))
  }

  /** The verified token; undefined: it is not valid here, for any reason. Never rejects. */
  async verify(token: string, { mayHaveExpired = false }: VerifyOptions = {}): Promise<VerifiedToken | undefined> {
    if (token.length > 8 * KiB) return undefined
    try {
      const { iss = '', exp = 0 } = decodeJwt(token)
      const known = this.#issuers.get(iss)
      if (!known) return undefined
      const now = this.#clock.now()
      const asOf = mayHaveExpired ? Math.min(now, exp * 1000) : now
      const { issuer, keys } = known
      const { payload, protectedHeader } = await jwtVerify(token, keys.find, {
        issuer: issuer.issuer,
        audience: [...issuer.audience],
        algorithms: [...issuer.algorithms],
        requiredClaims: ['exp', 'sub'],
        clockTolerance: skewSeconds,
        currentDate: new Date(asOf),
      })
      requireBearer(protectedHeader, payload, now)
      const expiresAt = (payload.exp! + skewSeconds) * 1000
      if (expiresAt > now + lifeMaxSeconds * 1000) throw new Error('The token has no end within the life of a key.')
      return { issuer, keyId: keyIdOf(payload), expiresAt, claims: payload }
    } catch (error) {
      this.#log.debug({ reason: (error as Error).message }, 'token.refused')
      return undefined
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#fetch[Symbol.asyncDispose]()
  }
}

/** `typ` of tokens that whoever has them may use: RFC 9068, and the type that most issuers name. Without any, it is one too. */
const bearerTypes = new Set(['jwt', 'at+jwt'])

/** Throws for a token that is no access token, that is bound to a key of its holder, or that is not issued yet. Source: RFC 8725 §3.11. */
function requireBearer({ typ = 'jwt' }: JWTHeaderParameters, { cnf, iat = 0 }: JWTPayload, now: number): void {
  const type = String(typ)
    .toLowerCase()
    .replace(/^application\//, '')
  if (!bearerTypes.has(type)) throw new Error(`A token of the type ${type} is no access token.`)
  if (cnf !== undefined) throw new Error('The token is bound to a key of its holder (cnf).')
  if (iat > now / 1000 + skewSeconds) throw new Error('The token is not issued yet (iat).')
}

/** Identifies a token by its own id, else by its login, else by its time of issue, else by its end, which every token has. */
function keyIdOf({ iss, sub, jti, sid, iat, exp }: JWTPayload): string {
  const one = JSON.stringify([iss, sub, jti ?? sid ?? iat ?? exp])
  return `jwt:${createHash('sha256').update(one).digest('hex').slice(0, 32)}`
}

async function readText(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes > documentMax) {
      throw new Error(`the document is larger than ${documentMax} bytes`)
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
