import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isoTime } from '../../src/lib/iso-time.ts'

test('it is what Date says, for every instant that Date has', () => {
  const instant = fc.integer({ min: -8.64e15, max: 8.64e15 })
  fc.assert(
    fc.property(instant, fc.nat({ max: 2_000 }), (at, later) => {
      for (const one of [at, Math.min(8.64e15, at + later)]) expect(isoTime(one)).toBe(new Date(one).toISOString())
    }),
  )
  expect(() => isoTime(Number.NaN)).toThrow(RangeError)
})
