import fc from 'fast-check'
import { expect, test } from 'vitest'
import { asideWaitMs, isGivenUp, isSetAside } from '../../../src/cli/listen/set-aside.ts'

const now = 1_795_770_000_000
const minute = 60_000
const none = { failures: 3, count: 0, sinceSuccess: 0, lastAt: 0 }

test.each([
  ['after three failures the next one is tried', none, true],
  ['before, it is tried again', { ...none, failures: 2 }, false],
  ['a second one waits a minute', { ...none, sinceSuccess: 1, lastAt: now - minute + 1 }, false],
  ['and is set aside then', { ...none, sinceSuccess: 1, lastAt: now - minute }, true],
  ['a third one two', { ...none, sinceSuccess: 2, lastAt: now - minute }, false],
  ['never longer than half an hour', { ...none, sinceSuccess: 30, lastAt: now - 30 * minute }, true],
  ['after a success at once', { ...none, count: 5, lastAt: now }, true],
  ['at most 64', { ...none, count: 64 }, false],
] as const)('%s', (_why, trouble, expected) => {
  expect(isSetAside(trouble, now)).toBe(expected)
})

test('a command that is broken sets few aside, whatever waits, and each is tried at most five minutes apart', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1_000, max: 300_000 }), { minLength: 200, maxLength: 200 }), (waits) => {
      let at = now
      let sinceSuccess = 0
      let lastAt = 0
      for (const wait of waits) {
        at += wait
        if (at > now + 6 * 60 * minute) break
        if (!isSetAside({ failures: 3, count: sinceSuccess, sinceSuccess, lastAt }, at)) continue
        sinceSuccess++
        lastAt = at
      }
      expect(sinceSuccess).toBeLessThanOrEqual(17)
    }),
  )
  expect([0, 1, 5, 6, 100].map(asideWaitMs)).toEqual([8_000, 16_000, 256_000, 300_000, 300_000])
})

test.each([
  ['tried four times, for as long as was asked', { failures: 4, firstAt: now - 60_000 }, 60_000, true],
  ['not for as long', { failures: 40, firstAt: now - 59_999 }, 60_000, false],
  ['not four times', { failures: 3, firstAt: 0 }, 0, false],
] as const)('one that is set aside is given up: %s', (_why, failing, retryForMs, expected) => {
  expect(isGivenUp(failing, retryForMs, now)).toBe(expected)
})
