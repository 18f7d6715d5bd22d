import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import { describe, expect, test } from 'vitest'
import { newSigningKey, signHeaders, verifyWake } from '../../src/words/signature.ts'

const now = Math.floor(Date.now() / 1000)
const key = newSigningKey()
const oldKey = newSigningKey()
const oldestKey = newSigningKey()
const wake = {
  body: '{"eventType":"wake/test"}',
  eventId: '01HWAKE',
  subscriptionId: 'WAKE_SUB:1',
  timestampSeconds: now,
}

describe('signing', () => {
  test('a new key is whsec_ and 32 random bytes in base64', () => {
    expect(newSigningKey((bytes) => Buffer.alloc(bytes, 7))).toBe(`whsec_${Buffer.alloc(32, 7).toString('base64')}`)
    expect(newSigningKey()).not.toBe(newSigningKey())
  })

  test('the golden vector of the Standard Webhooks libraries', () => {
    const headers = signHeaders({
      body: '{"test": 2432232314}',
      eventId: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      subscriptionId: 'WAKE_SUB:1',
      timestampSeconds: 1614265330,
      keys: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
    })
    expect(headers['webhook-signature']).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=')
  })

  test('the headers of a wake are exactly these', () => {
    expect(signHeaders({ ...wake, keys: [key] })).toEqual({
      'Content-Type': 'application/json',
      'X-Neo-Wake-Signature': createHmac('sha256', Buffer.from(key, 'utf8')).update(wake.body).digest('hex'),
      'X-Neo-Wake-Event-Id': '01HWAKE',
      'X-Neo-Wake-Subscription-Id': 'WAKE_SUB:1',
      'X-Neo-Wake-Schema-Version': '1.0',
      'webhook-id': '01HWAKE',
      'webhook-timestamp': String(now),
      'webhook-signature': expect.stringMatching(/^v1,[A-Za-z0-9+/]{43}=$/),
    })
  })

  test('during an overlap the former keys sign too, the current one first', () => {
    const both = signHeaders({ ...wake, keys: [key, oldKey] })
    const current = signHeaders({ ...wake, keys: [key] })
    const previous = signHeaders({ ...wake, keys: [oldKey] })
    expect(both['X-Neo-Wake-Signature']).toBe(current['X-Neo-Wake-Signature'])
    expect(both['X-Neo-Wake-Signature-Previous']).toBe(previous['X-Neo-Wake-Signature'])
    expect(both['webhook-signature']).toBe(`${current['webhook-signature']} ${previous['webhook-signature']}`)
    const three = signHeaders({ ...wake, keys: [key, oldKey, oldestKey] })
    expect(three['X-Neo-Wake-Signature-Previous']).toBe(previous['X-Neo-Wake-Signature'])
    expect(verifyWake({ body: wake.body, headers: three, keys: [oldestKey], nowSeconds: now }).ok).toBe(true)
  })

  test('the body counts byte by byte, text and buffer alike', () => {
    const body = '{"subject":"Grüße 👋"}'
    expect(signHeaders({ ...wake, body, keys: [key] })).toEqual(
      signHeaders({ ...wake, body: Buffer.from(body), keys: [key] }),
    )
  })

  test.each(['not a whsec key', 'whsec_', 'whsec_not base64!', 'wörter'])(
    'the key "%s" signs as its own text',
    (opaque) => {
      const headers = signHeaders({ ...wake, keys: [opaque] })
      const expected = createHmac('sha256', opaque).update(`01HWAKE.${now}.${wake.body}`).digest('base64')
      expect(headers['webhook-signature']).toBe(`v1,${expected}`)
      expect(headers['X-Neo-Wake-Signature']).toBe(createHmac('sha256', opaque).update(wake.body).digest('hex'))
    },
  )
})

describe('the Standard Webhooks library', () => {
  test.each([
    ['the current key', key],
    ['the previous key', oldKey],
  ])('verifies a wake with %s', (_, receiverKey) => {
    const headers = signHeaders({ ...wake, keys: [key, oldKey] })
    expect(new Webhook(receiverKey).verify(wake.body, headers)).toEqual({ eventType: 'wake/test' })
  })

  test('verifies any body', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.ulid(), (body, eventId) => {
        const headers = signHeaders({ ...wake, body, eventId, keys: [key] })
        new Webhook(key).verify(body, headers, { jsonParse: false })
      }),
    )
  })

  test('refuses a wake with another key', () => {
    const headers = signHeaders({ ...wake, keys: [key] })
    expect(() => new Webhook(oldKey).verify(wake.body, headers)).toThrow('No matching signature')
  })
})

describe('verifying', () => {
  const headers = signHeaders({ ...wake, keys: [key] })
  const { 'webhook-id': _id, ...withoutId } = headers
  const genuine = { body: wake.body, headers, keys: [key], nowSeconds: now }
  const accepted = { ok: true, scheme: 'standard-webhooks', eventId: '01HWAKE', timestampSeconds: now }
  const refused = (reason: string) => ({ ok: false, reason })
  const signedWithNothing = { headers: signHeaders({ ...wake, keys: [''] }), keys: [''] }

  test.each([
    ['a genuine wake', {}, accepted],
    ['one five minutes old', { nowSeconds: now + 300 }, accepted],
    ['one older than that', { nowSeconds: now + 301 }, refused('timestamp-too-old')],
    ['one five minutes ahead', { nowSeconds: now - 300 }, accepted],
    ['one further ahead', { nowSeconds: now - 301 }, refused('timestamp-too-new')],
    ['another key', { keys: [oldKey] }, refused('signature-mismatch')],
    ['one of several keys', { keys: [oldKey, key] }, accepted],
    ['no key at all', { keys: [] }, refused('missing-key')],
    ['a key that is empty: anybody could have signed it', signedWithNothing, refused('missing-key')],
    ['a key that is a prefix and nothing else', { keys: ['whsec_'] }, refused('missing-key')],
    ['an empty key beside a good one', { keys: ['', key] }, accepted],
    ['another body', { body: `${wake.body} ` }, refused('signature-mismatch')],
    ['another id', { headers: { ...headers, 'webhook-id': '01HOTHER' } }, refused('signature-mismatch')],
    ['another time', { headers: { ...headers, 'webhook-timestamp': String(now - 1) } }, refused('signature-mismatch')],
    [
      'a time with a zero before it',
      { headers: { ...headers, 'webhook-timestamp': `0${now}` } },
      refused('signature-mismatch'),
    ],
    ['a time in words', { headers: { ...headers, 'webhook-timestamp': 'now' } }, refused('invalid-timestamp')],
    ['a negative time', { headers: { ...headers, 'webhook-timestamp': '-1' } }, refused('invalid-timestamp')],
    ['no id', { headers: withoutId }, refused('missing-header')],
    ['no headers, not even by prototype', { headers: {} }, refused('missing-header')],
    ['an empty signature', { headers: { ...headers, 'webhook-signature': '' } }, refused('missing-header')],
    [
      'a signature of another version',
      { headers: { ...headers, 'webhook-signature': headers['webhook-signature']!.replace('v1,', 'v2,') } },
      refused('signature-mismatch'),
    ],
    [
      'an unknown signature beside the good one',
      { headers: { ...headers, 'webhook-signature': `v1a,AAAA ${headers['webhook-signature']}` } },
      accepted,
    ],
    [
      'only the signature of the body',
      { headers: { 'X-Neo-Wake-Signature': headers['X-Neo-Wake-Signature'] } },
      refused('missing-header'),
    ],
  ])('%s', (_, change, expected) => {
    expect(verifyWake({ ...genuine, ...change })).toEqual(expected)
  })

  test('header names may have any case, values may be lists', () => {
    const shouted = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), [value]]))
    expect(verifyWake({ ...genuine, headers: shouted })).toEqual(accepted)
    expect(verifyWake({ ...genuine, headers: shouted, scheme: 'x-neo-wake' })).toEqual({
      ok: true,
      scheme: 'x-neo-wake',
    })
  })

  test('a receiver with either key verifies both kinds during an overlap', () => {
    const overlap = signHeaders({ ...wake, keys: [key, oldKey] })
    for (const receiverKey of [key, oldKey]) {
      const received = { ...genuine, headers: overlap, keys: [receiverKey] }
      expect(verifyWake(received)).toEqual(accepted)
      expect(verifyWake({ ...received, scheme: 'x-neo-wake' })).toEqual({ ok: true, scheme: 'x-neo-wake' })
    }
  })

  test('the signature of the body alone is hex, and fails without its header', () => {
    const neo = { ...genuine, scheme: 'x-neo-wake' as const }
    expect(verifyWake({ ...neo, headers: {} })).toEqual(refused('missing-header'))
    expect(verifyWake({ ...neo, keys: [oldKey] })).toEqual(refused('signature-mismatch'))
    expect(
      verifyWake({ ...neo, headers: { 'X-Neo-Wake-Signature': headers['X-Neo-Wake-Signature']!.toUpperCase() } }),
    ).toEqual(refused('signature-mismatch'))
  })

  test('any bytes verify, and any flipped bit of them fails', () => {
    const schemes = ['standard-webhooks', 'x-neo-wake'] as const
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 1 }),
        fc.nat(),
        fc.nat(7),
        fc.constantFrom(...schemes),
        (bytes, at, bit, scheme) => {
          const body = Buffer.from(bytes)
          const received = {
            body,
            headers: signHeaders({ ...wake, body, keys: [key] }),
            keys: [key],
            nowSeconds: now,
            scheme,
          }
          expect(verifyWake(received).ok).toBe(true)
          const changed = Buffer.from(body)
          changed[at % body.length]! ^= 1 << bit
          expect(verifyWake({ ...received, body: changed })).toEqual(refused('signature-mismatch'))
        },
      ),
    )
  })

  test('no header can make it throw', () => {
    const anyHeader = fc.oneof(fc.string(), fc.constant(undefined), fc.array(fc.string()))
    fc.assert(
      fc.property(anyHeader, anyHeader, anyHeader, (id, timestamp, signature) => {
        const forged = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature }
        expect(verifyWake({ ...genuine, headers: forged }).ok).toBe(false)
        expect(
          verifyWake({ ...genuine, headers: { 'x-neo-wake-signature': signature }, scheme: 'x-neo-wake' }).ok,
        ).toBe(false)
      }),
    )
  })
})
