import { AgentCard, type AgentCardSignature, generateAgentCardSignature } from '@a2a-js/sdk'
import * as jose from 'jose'
import type { JsonObject } from '../lib/json.ts'
import { canonicalJson } from './canonical-json.ts'

const alg = 'ES256'

/**
 * A key for cards and tokens: a private one, or the public half of one that no longer signs. `nbf`: signs from then on; it is
 * published before. `exp`: published until then. Both in seconds since the epoch; absent: always.
 */
export interface CardKey extends jose.JWK {
  readonly nbf?: number
  readonly exp?: number
}

/** ECDSA is randomised: signing the same card twice gives different bytes. A caller that needs stable bytes stores the signed card. */
export interface CardSigner {
  /** The RFC 7638 thumbprint of the signing key. */
  readonly kid: string
  /** When the key began to sign, in seconds since the epoch; 0: always. */
  readonly signsSince: number
  /**
   * Adds two signatures over canonical forms without empty values: the form that the SDK's verifier computes from a card in
   * memory, which lacks `securitySchemes`, and the form computed from the card's JSON.
   */
  sign(card: AgentCard): Promise<AgentCard>
  /** A signature over the RFC 8785 form of a document exactly as served, `signatures` left out. */
  signDocument(document: JsonObject): Promise<AgentCardSignature>
  /** A detached compact JWS over the RFC 8785 form of a document. Its header names no place of the key: `kid` says which one it is. */
  signDetached(document: JsonObject, header: { typ: string; kid: string }): Promise<string>
  /**
   * A JWT of the gateway for one receiver: `iss` is the gateway's public URL, `aud` the receiver's, valid for `seconds`.
   * It goes with A2A push notifications whose config asks for `Bearer` and has no credentials.
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

/** Signs with the first key and publishes all of them, so that cards signed before a rotation still verify. */
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
    signDetached: async (document, names) => {
      const payload = new TextEncoder().encode(canonicalJson(document))
      const jws = await new jose.CompactSign(payload).setProtectedHeader({ alg, ...names }).sign(key)
      return jws.replace(/\..*\./, '..')
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

/** Makes a private ES256 key. The caller stores it: cards can be verified only while the key is published. */
export async function createCardSigningKey(): Promise<jose.JWK> {
  const { privateKey } = await jose.generateKeyPair(alg, { extractable: true })
  const jwk = await jose.exportJWK(privateKey)
  return { ...jwk, alg, use: 'sig', kid: await jose.calculateJwkThumbprint(jwk) }
}

/** Copies the public members by name, so that a private one can never be included. */
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
