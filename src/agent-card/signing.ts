import { AgentCard, type AgentCardSignature, generateAgentCardSignature } from '@a2a-js/sdk'
import * as jose from 'jose'
import type { JsonObject } from '../lib/json.ts'
import { canonicalJson } from './canonical-json.ts'

const alg = 'ES256'

/**
 * A key that signs cards and tokens, or did: private, or the public half of one that signs no more. `nbf`: it signs from then on, and is
 * published before. `exp`: it is published until then. Both in seconds since the epoch; absent: always.
 */
export interface CardKey extends jose.JWK {
  readonly nbf?: number
  readonly exp?: number
}

/** ECDSA is randomised: the same card signed twice differs, so whoever needs stable bytes keeps what was signed. */
export interface CardSigner {
  /** The RFC 7638 thumbprint of the signing key. */
  readonly kid: string
  /** When it began to sign, in seconds since the epoch; 0 where it always did. */
  readonly signsSince: number
  /**
   * The card with two signatures over canonical forms that drop every empty value: the one that the SDK's verifier
   * computes from a card in memory, where it loses `securitySchemes`, and the one computed from the card's JSON.
   */
  sign(card: AgentCard): Promise<AgentCard>
  /** A signature over the RFC 8785 form of a document exactly as served, `signatures` left out. */
  signDocument(document: JsonObject): Promise<AgentCardSignature>
  /**
   * A JWT of the gateway for one receiver: `iss` is the gateway's public URL, `aud` the receiver's, valid for `seconds`.
   * What A2A push notifications carry whose config asks for `Bearer` and brings no credentials.
   */
  signToken(token: {
    audience: string
    id: string
    issuedAt: number
    seconds: number
    claims: JsonObject
  }): Promise<string>
  /** The public half of every key, for `/.well-known/jwks.json`. */
  jwks(): { keys: jose.JWK[] }
}

/** The first key signs; all are published, so that cards signed before a rotation still verify. */
export async function createCardSigner(keys: readonly CardKey[], publicUrl: string): Promise<CardSigner> {
  const published = await Promise.all(keys.map(publicJwk))
  const [first] = keys
  const kid = published[0]?.kid
  if (!first || !kid) throw new TypeError('At least one card signing key is needed.')
  const key = await privateKey(first)
  const issuer = publicUrl.replace(/\/+$/, '')
  const header = { alg, kid, typ: 'JOSE', jku: `${issuer}/.well-known/jwks.json` }
  const generate = generateAgentCardSignature(key, header)

  return {
    kid,
    signsSince: first.nbf ?? 0,
    sign: async (card) => {
      const inMemory = await generate({ ...card, signatures: [] })
      const asJson = await generate(AgentCard.toJSON({ ...card, signatures: [] }) as AgentCard)
      return { ...card, signatures: [...inMemory.signatures, ...asJson.signatures] }
    },
    signDocument: async ({ signatures: _, ...document }) => {
      const payload = new TextEncoder().encode(canonicalJson(document))
      const jws = await new jose.FlattenedSign(payload).setProtectedHeader(header).sign(key)
      return { protected: jws.protected ?? '', signature: jws.signature, header: undefined }
    },
    signToken: ({ audience, id, issuedAt, seconds, claims }) =>
      new jose.SignJWT(claims)
        .setProtectedHeader({ alg, kid, typ: 'JWT' })
        .setIssuer(issuer)
        .setAudience(audience)
        .setJti(id)
        .setIssuedAt(issuedAt)
        .setExpirationTime(issuedAt + seconds)
        .sign(key),
    jwks: () => ({ keys: published.map((jwk) => ({ ...jwk })) }),
  }
}

/** A new private ES256 key. The caller keeps it: cards stay verifiable only as long as the key is published. */
export async function createCardSigningKey(): Promise<jose.JWK> {
  const { privateKey } = await jose.generateKeyPair(alg, { extractable: true })
  const jwk = await jose.exportJWK(privateKey)
  return { ...jwk, alg, use: 'sig', kid: await jose.calculateJwkThumbprint(jwk) }
}

/** Built from the public members by name, so that a private one can never slip through. */
async function publicJwk({ kty, crv, x, y }: jose.JWK): Promise<jose.JWK> {
  const jwk = { kty, crv, x, y } as jose.JWK
  return { ...jwk, use: 'sig', alg, kid: await jose.calculateJwkThumbprint(jwk) }
}

async function privateKey({ kty, crv, x, y, d }: jose.JWK): Promise<jose.CryptoKey> {
  if (kty !== 'EC' || crv !== 'P-256' || typeof d !== 'string') {
    throw new TypeError('A card signing key is a private EC P-256 JWK.')
  }
  return (await jose.importJWK({ kty, crv, x, y, d } as jose.JWK, alg)) as jose.CryptoKey
}
