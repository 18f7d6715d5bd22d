import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isoTime, readIsoTime } from '../../src/lib/iso-time.ts'

test('it is what Date says, for every instant that Date has', () => {
  const instant = fc.integer({ min: -8.64e15, max: 8.64e15 })
  fc.assert(
    fc.property(instant, fc.nat({ max: 2_000 }), (at, later) => {
      for (const one of [at, Math.min(8.64e15, at + later)]) expect(isoTime(one)).toBe(new Date(one).toISOString())
    }),
  )
  expect(() => isoTime(Number.NaN)).toThrow(RangeError)
})

test.each([
  ['2026-04-26T10:00:00.000Z', 1777197600000],
  ['2026-04-26T12:00:00.000000001+02:00', 1777197600000],
  ['2026-04-26T10:00:00', undefined],
  ['2026-04-26', undefined],
  ['2026-02-30T10:00:00Z', undefined],
  ['Jan 5', undefined],
  ['-1', undefined],
])('%s is read as %s', (text, at) => {
  expect(readIsoTime(text)).toBe(at)
})
