import { verifyAgentCardSignature } from '@a2a-js/sdk'
import * as jose from 'jose'
import { describe, expect, test, vi } from 'vitest'
import { buildCard } from '../../src/agent-card/card.ts'
import { createCardSigner, createCardSigningKey } from '../../src/agent-card/signing.ts'
import { donna, publicUrl } from './subject.ts'

// The SDK's verifier reports every signature that fails.
vi.spyOn(console, 'debug').mockImplementation(() => {})

const card = buildCard(donna(), { publicUrl })

describe('a card signer', () => {
  test('signs so that the SDK verifies with the published key, and a changed card fails', async () => {
    const signer = await createCardSigner([await createCardSigningKey()], publicUrl)
    const sought: unknown[] = []
    const verify = verifyAgentCardSignature(async (kid, jku) => {
      sought.push({ kid, jku })
      return signer.jwks().keys.find((key) => key.kid === kid)!
    })
    const signed = await signer.sign(card)
    await verify(signed)
    await expect(verify({ ...signed, name: 'Mallory' })).rejects.toThrow('No valid signatures')
    expect(sought[0]).toEqual({ kid: signer.kid, jku: `${publicUrl}/.well-known/jwks.json` })
  })

  test('names algorithm, type and thumbprint in the protected header', async () => {
    const key = await createCardSigningKey()
    const signer = await createCardSigner([key], `${publicUrl}/`)
    const [signature] = (await signer.sign(card)).signatures
    expect(jose.decodeProtectedHeader(signature!)).toEqual({
      alg: 'ES256',
      typ: 'JOSE',
      kid: await jose.calculateJwkThumbprint(key),
      jku: `${publicUrl}/.well-known/jwks.json`,
    })
  })

  test('publishes every key and no private part; the first one signs', async () => {
    const [newer, older] = [await createCardSigningKey(), await createCardSigningKey()]
    const signer = await createCardSigner([newer, older], publicUrl)
    const { keys } = signer.jwks()
    expect(signer.kid).toBe(newer.kid)
    expect(keys.map((key) => key.kid)).toEqual([newer.kid, older.kid])
    for (const key of keys) {
      expect(Object.keys(key).sort()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y'])
      expect(key).toMatchObject({ use: 'sig', alg: 'ES256' })
    }
  })

  test('a card signed before a rotation still verifies', async () => {
    const older = await createCardSigningKey()
    const signed = await (await createCardSigner([older], publicUrl)).sign(card)
    const rotated = await createCardSigner([await createCardSigningKey(), older], publicUrl)
    await verifyAgentCardSignature(async (kid) => rotated.jwks().keys.find((key) => key.kid === kid)!)(signed)
  })

  test('refuses no key, a public key and another curve', async () => {
    const { d: _, ...open } = await createCardSigningKey()
    const { privateKey } = await jose.generateKeyPair('ES384', { extractable: true })
    await expect(createCardSigner([], publicUrl)).rejects.toThrow('At least one')
    await expect(createCardSigner([open], publicUrl)).rejects.toThrow('private EC P-256')
    await expect(createCardSigner([await jose.exportJWK(privateKey)], publicUrl)).rejects.toThrow('private EC P-256')
  })
})
