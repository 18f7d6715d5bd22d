import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hashSecret, newApiKey, SecretBox, secretsEqual } from '../../src/security/secret.ts'

const newKey = (): string => randomBytes(32).toString('base64')

test('a sealed text opens only in its own context, and is different each time', () => {
  const box = new SecretBox([newKey()])
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string(), (secret, context) => {
      const sealed = box.seal(secret, context)
      expect(box.open(sealed, context)).toBe(secret)
      expect(box.seal(secret, context)).not.toBe(sealed)
      if (secret.length > 8) expect(sealed).not.toContain(secret)
    }),
  )
})

test('a sealed text that was moved, changed or cut does not open', () => {
  const box = new SecretBox([newKey()])
  const sealed = box.seal('whsec_something', 'row 1')
  expect(() => box.open(sealed, 'row 2')).toThrow()
  const [id, iv, text] = sealed.split('.') as [string, string, string]
  const flipped = `${text.startsWith('A') ? 'B' : 'A'}${text.slice(1)}`
  for (const changed of [`${id}.${iv}.${flipped}`, `${id}.${iv}.${text.slice(0, -4)}`, `${id}.${iv}`, id, '']) {
    expect(() => box.open(changed, 'row 1')).toThrow()
  }
})

test('the newest key seals and every listed key opens; one that is gone is named by its id', () => {
  const [old, current] = [newKey(), newKey()]
  const sealedBefore = new SecretBox([old]).seal('secret', 'row')
  const rotated = new SecretBox([current, old])
  expect(rotated.open(sealedBefore, 'row')).toBe('secret')
  const sealedAfter = rotated.seal('secret', 'row')
  expect(new SecretBox([current]).open(sealedAfter, 'row')).toBe('secret')
  const keyId = sealedBefore.split('.')[0]!
  expect(() => new SecretBox([current]).open(sealedBefore, 'row')).toThrow(`encrypted with key ${keyId}`)
})

test('a key that is not 32 bytes is refused', () => {
  expect(() => new SecretBox(['c2hvcnQ='])).toThrow('32 bytes')
  expect(() => new SecretBox([])).toThrow('At least one')
})

test('keys are random, compared in constant time, and stored as a hash', () => {
  const [a, b] = [newApiKey(), newApiKey()]
  expect(a).toMatch(/^rk_[\w-]{43}$/)
  expect([secretsEqual(a, a), secretsEqual(a, b), secretsEqual(a, ''), secretsEqual('', '')]).toEqual([
    true,
    false,
    false,
    true,
  ])
  expect(hashSecret('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
})
