import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose'
import type { Clock } from '../lib/clock.ts'
import { claimOf } from './jwt-claims.ts'
import { discoveryUrl, type JwtIssuer } from './jwt-issuers.ts'

/** Keys of this age are read again, in the background of the request that finds them. */
const freshMs = 10 * 60_000
/** Time between two reads from an issuer that does not answer, or whose keys lack the one that a token names. */
const askAgainMs = 30_000
/** Keys that could not be read again for this long are no longer trusted. */
const staleMs = 24 * 60 * 60_000

interface KeySet {
  readonly find: JWTVerifyGetKey
  readonly at: number
}

interface Source {
  readonly clock: Clock
  readonly readJson: (url: string, trustedOrigins: readonly string[]) => Promise<unknown>
  /** Called when keys could not be read. */
  readonly failed: (error: unknown) => void
}

/**
 * The current public keys of an issuer. They are read for the first token, again when they are old, and when a token names a key
 * that is not among them. An issuer that is down delays only its own tokens, once in half a minute.
 */
export class IssuerKeys {
  readonly #issuer: JwtIssuer
  readonly #source: Source
  #loaded: KeySet | undefined
  #queriedAt: number | undefined
  #loading: Promise<KeySet> | undefined

  constructor(issuer: JwtIssuer, source: Source) {
    this.#issuer = issuer
    this.#source = source
  }

  /** The key that a token's header names. Rejects when there is none. */
  readonly find: JWTVerifyGetKey = async (header, token) => {
    const loaded = await this.#current()
    try {
      return await loaded.find(header, token)
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey) || !this.#mayAsk()) throw error
      return (await this.#load()).find(header, token)
    }
  }

  async #current(): Promise<KeySet> {
    const loaded = this.#loaded
    const age = loaded === undefined ? Number.POSITIVE_INFINITY : Math.abs(this.#source.clock.now() - loaded.at)
    if (loaded && age < freshMs) return loaded
    if (loaded && age < staleMs) {
      if (this.#mayAsk()) void this.#load().catch(() => {})
      return loaded
    }
    if (this.#loading || this.#mayAsk()) return this.#load()
    throw new Error(`the keys of ${this.#issuer.issuer} are not known, and it did not answer a moment ago`)
  }

  #mayAsk(): boolean {
    return this.#queriedAt === undefined || Math.abs(this.#source.clock.now() - this.#queriedAt) >= askAgainMs
  }

  /** Concurrent callers share one read. */
  #load(): Promise<KeySet> {
    this.#queriedAt = this.#loading ? this.#queriedAt : this.#source.clock.now()
    this.#loading ??= this.#read().finally(() => {
      this.#loading = undefined
    })
    return this.#loading
  }

  async #read(): Promise<KeySet> {
    const { clock, readJson, failed } = this.#source
    try {
      const url = this.#issuer.jwksUri ?? (await this.#discover())
      const keys = (await readJson(url, this.#trusted())) as JSONWebKeySet
      this.#loaded = { find: createLocalJWKSet(keys), at: clock.now() }
      return this.#loaded
    } catch (error) {
      failed(error)
      throw error
    }
  }

  /** The discovery document must name this issuer: otherwise one issuer could vouch for the tokens of another. */
  async #discover(): Promise<string> {
    const document = await this.#source.readJson(discoveryUrl(this.#issuer), this.#trusted())
    const claims = typeof document === 'object' && document !== null ? document : {}
    const uri = claimOf(claims, 'jwks_uri')
    if (claimOf(claims, 'issuer') !== this.#issuer.issuer) {
      throw new Error(`${discoveryUrl(this.#issuer)} is the document of another issuer`)
    }
    if (typeof uri === 'string' && URL.canParse(uri)) return uri
    throw new Error(`${discoveryUrl(this.#issuer)} names no jwks_uri`)
  }

  /** A URL from the configuration is trusted. */
  #trusted(): string[] {
    const { issuer, jwksUri } = this.#issuer
    return [issuer, ...(jwksUri === undefined ? [] : [jwksUri])].map((url) => new URL(url).origin)
  }
}
