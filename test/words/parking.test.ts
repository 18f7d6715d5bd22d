import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parkedMsMax, parkedUntil, type ShortPark } from '../../src/words/parking.ts'

const now = 1_795_770_000_000
const minute = 60_000
const hour = 60 * minute
const parked = (endedMsAgo: number, lastedMs: number): ShortPark => ({ until: now - endedMsAgo, lastedMs })

// D50
test.each<[string, number | null, ShortPark | undefined, number | null]>([
  ['a reset to come is taken', 2 * hour, undefined, 2 * hour],
  ['one beyond eight days is cut', 90 * 24 * hour, undefined, parkedMsMax],
  ['a person has to act', null, undefined, null],
  ['a reset that has passed', -5_000, undefined, minute],
  ['a reset within a minute', 30_000, undefined, minute],
  ['the second time', -5_000, parked(0, minute), 2 * minute],
  ['the third time, after a run of four minutes', -5_000, parked(4 * minute, 2 * minute), 4 * minute],
  ['no longer than an hour', -5_000, parked(10_000, hour), hour],
  ['the limit has ended between', -5_000, parked(6 * minute, 4 * minute), minute],
  ['a long park counts for as long again', -5_000, parked(30 * minute, 32 * minute), hour],
])('%s', (_why, named, last, ms) => {
  const { until } = parkedUntil(named === null ? null : now + named, now, last)
  expect(until).toBe(ms === null ? null : now + ms)
})

test('whatever a harness says at each run, an hour has at most ten runs that are refused', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -10 * hour, max: minute }), { minLength: 60, maxLength: 60 }), (resets) => {
      let at = now
      let last: ShortPark | undefined
      const runs: number[] = []
      for (const reset of resets) {
        runs.push(at)
        const { until, short } = parkedUntil(at + reset, at, last)
        last = short
        at = until!
      }
      for (const [index, run] of runs.entries()) {
        expect(runs.slice(index).filter((other) => other < run + hour).length).toBeLessThanOrEqual(10)
      }
    }),
  )
})
