import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { HmacKey } from '../../src/lib/hmac.ts'

test('the codes of RFC 4231', () => {
  const long = Buffer.alloc(131, 0xaa)
  expect(new HmacKey(Buffer.from('Jefe')).sign('what do ya want ', 'for nothing?', 'hex')).toBe(
    '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
  )
  expect(new HmacKey(long).sign('Test Using Larger Than Block-Size Key - ', 'Hash Key First', 'hex')).toBe(
    '60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54',
  )
})

test('they are those of createHmac for every key, text and body', () => {
  const body = fc.oneof(fc.string({ unit: 'binary' }), fc.uint8Array({ maxLength: 4_000 }).map(Buffer.from))
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.string({ unit: 'grapheme' }), body, (bytes, text, rest) => {
      const key = Buffer.from(bytes)
      const expected = createHmac('sha256', key).update(text).update(rest).digest('base64')
      expect(new HmacKey(key).sign(text, rest, 'base64')).toBe(expected)
    }),
  )
})

test.each([16_383, 16_384, 16_385, 100_000])('a text of %i characters', (length) => {
  const key = Buffer.from('key')
  for (const text of ['x'.repeat(length), '€'.repeat(length)]) {
    expect(new HmacKey(key).sign('', text, 'hex')).toBe(createHmac('sha256', key).update(text).digest('hex'))
  }
})
