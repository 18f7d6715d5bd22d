import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose'
import type { Clock } from '../lib/clock.ts'
import { claimOf } from './jwt-claims.ts'
import { discoveryUrl, type JwtIssuer } from './jwt-issuers.ts'

/** Keys are read again when they are this old, behind the request that finds it so. */
const freshMs = 10 * 60_000
/** An issuer that does not answer is not asked again before; nor one whose keys do not hold the one that a token names. */
const askAgainMs = 30_000
/** Keys that could not be read again for so long are not believed any more. */
const staleMs = 24 * 60 * 60_000

interface Loaded {
  readonly find: JWTVerifyGetKey
  readonly at: number
}

interface Source {
  readonly clock: Clock
  readonly readJson: (url: string, trustedOrigins: readonly string[]) => Promise<unknown>
  /** Hears of keys that could not be read. */
  readonly failed: (error: unknown) => void
}

/**
 * The public keys of an issuer, as they are now: read when the first token comes, again when they are old, and when a token names
 * one that is not among them. An issuer that is away costs its own tokens one wait in half a minute, and nobody else anything.
 */
export class IssuerKeys {
  readonly #issuer: JwtIssuer
  readonly #source: Source
  #loaded: Loaded | undefined
  #askedAt: number | undefined
  #loading: Promise<Loaded> | undefined

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

  async #current(): Promise<Loaded> {
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
    return this.#askedAt === undefined || Math.abs(this.#source.clock.now() - this.#askedAt) >= askAgainMs
  }

  /** Everybody who needs the keys meanwhile waits for the same answer. */
  #load(): Promise<Loaded> {
    this.#askedAt = this.#loading ? this.#askedAt : this.#source.clock.now()
    this.#loading ??= this.#read().finally(() => {
      this.#loading = undefined
    })
    return this.#loading
  }

  async #read(): Promise<Loaded> {
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

  /** The discovery document must be the issuer's own: one that speaks for another could vouch for anybody. */
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

  /** What the operator wrote down is where the operator wants it. */
  #trusted(): string[] {
    const { issuer, jwksUri } = this.#issuer
    return [issuer, ...(jwksUri === undefined ? [] : [jwksUri])].map((url) => new URL(url).origin)
  }
}
