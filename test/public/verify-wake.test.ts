import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { verifyWake } from '../../src/index.ts'
import { newSigningKey, signHeaders } from '../../src/words/signature.ts'

const key = newSigningKey()
const nowSeconds = 1_777_200_000
const body = '{"eventType":"wake/sent_to_me","text":"é"}'
const signed = (at = nowSeconds, keys: [string, ...string[]] = [key]) =>
  signHeaders({ body, eventId: '01J', subscriptionId: 'WAKE_SUB:1', timestampSeconds: at, keys })
const verify = (change: object = {}) => verifyWake({ body, headers: signed(), keys: [key], nowSeconds, ...change })

test('a genuine wake is verified as text, as bytes, with the headers of Node and with those of fetch', () => {
  const verified = { ok: true, eventId: '01J', timestampSeconds: nowSeconds }
  expect(verify()).toEqual(verified)
  expect(verify({ body: new TextEncoder().encode(body) })).toEqual(verified)
  expect(verify({ headers: new Headers(signed()) })).toEqual(verified)
  expect(
    verify({ headers: Object.fromEntries(Object.entries(signed()).map(([n, v]) => [n.toLowerCase(), [v]])) }),
  ).toEqual(verified)
})

// S1-33, D2: each signature is checked by itself.
test.each([
  ['another body', { body: `${body} ` }, 'signature-mismatch'],
  ['another key', { keys: [newSigningKey()] }, 'signature-mismatch'],
  ['no key', { keys: [] }, 'missing-key'],
  ['an empty key', { keys: [''] }, 'missing-key'],
  ['no headers', { headers: {} }, 'missing-header'],
  ['no X-Neo-Wake-Signature', { headers: { ...signed(), 'X-Neo-Wake-Signature': undefined } }, 'missing-header'],
  [
    'another X-Neo-Wake-Signature',
    { headers: { ...signed(), 'X-Neo-Wake-Signature': createHmac('sha256', 'x').update(body).digest('hex') } },
    'signature-mismatch',
  ],
  ['no webhook-signature', { headers: { ...signed(), 'webhook-signature': undefined } }, 'missing-header'],
  ['another webhook-id', { headers: { ...signed(), 'webhook-id': '02J' } }, 'signature-mismatch'],
  ['six minutes ago', { headers: signed(nowSeconds - 360) }, 'timestamp-too-old'],
  ['six minutes from now', { headers: signed(nowSeconds + 360) }, 'timestamp-too-new'],
])('%s is refused', (_what, change, reason) => {
  expect(verify(change)).toEqual({ ok: false, reason })
})

test('during a rotation the old and the new key verify, at both ends', () => {
  const next = newSigningKey()
  expect(verify({ headers: signed(nowSeconds, [next, key]) }).ok).toBe(true)
  expect(verify({ keys: [next, key] }).ok).toBe(true)
})

test('without a time it is now', () => {
  const seconds = Math.floor(Date.now() / 1000)
  expect(verifyWake({ body, headers: signed(seconds), keys: [key] }).ok).toBe(true)
})
