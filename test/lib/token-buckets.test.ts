import fc from 'fast-check'
import { expect, test } from 'vitest'
import { TokenBuckets } from '../../src/lib/token-buckets.ts'

const bucket = { size: 10, windowMs: 1_000 }

test('a whole bucket may be taken at once, and comes back evenly', () => {
  const buckets = new TokenBuckets()
  for (let n = 0; n < 10; n += 1) expect(buckets.spend('a', bucket, 0)).toBe(0)
  expect(buckets.spend('a', bucket, 0)).toBe(100)
  expect(buckets.spend('b', bucket, 0)).toBe(0)
  expect(buckets.spend('a', bucket, 100)).toBe(0)
  expect(buckets.waitMs('a', bucket, 100, 5)).toBe(500)
})

test('more than a bucket has counts as all of it, and a debt is one bucket at most', () => {
  const buckets = new TokenBuckets()
  expect(buckets.waitMs('a', bucket, 0, 1_000)).toBe(0)
  buckets.take('a', bucket, 0, 1_000)
  expect(buckets.waitMs('a', bucket, 0)).toBe(1_100)
})

test('a clock that was ahead and is set back makes nobody wait, however long ago that was', () => {
  const buckets = new TokenBuckets()
  buckets.take('a', bucket, 1_000_000_000, 10)
  // Also where nothing is taken meanwhile, which would write the instant anew.
  for (const now of [0, 1_100, 500_000]) expect(buckets.waitMs('a', bucket, now)).toBe(0)
})

test('in any window no more is taken than a bucket and what has come back', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(300), fc.integer({ min: 1, max: 4 })), { maxLength: 80 }), (acts) => {
      const buckets = new TokenBuckets()
      let now = 0
      let taken = 0
      for (const [after, count] of acts) {
        now += after
        if (buckets.spend('a', bucket, now, count) === 0) taken += count
      }
      expect(taken).toBeLessThanOrEqual(bucket.size + (now * bucket.size) / bucket.windowMs + 1e-6)
    }),
  )
})

test('the number of keys is bounded, and those in use stay as long as there is room', () => {
  const buckets = new TokenBuckets(100)
  buckets.take('heavy', bucket, 0, 10)
  for (let n = 0; n < 99; n += 1) buckets.spend(`short ${n}`, bucket, 0)
  buckets.spend('new', bucket, 500)
  expect(buckets.waitMs('heavy', bucket, 500, 10)).toBe(500)
})
