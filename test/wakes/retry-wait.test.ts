import { expect, test } from 'vitest'
import { type RetryWait, retryWait } from '../../src/wakes/rules/retry-wait.ts'
import { noon } from './builders.ts'

const waits: readonly (readonly [string, number, RetryWait])[] = [
  ['is over', -1, { wait: 'none' }],
  ['ends now', 0, { wait: 'none' }],
  ['is short', 1, { wait: 'sleep', delayMs: 1 }],
  ['is as long as a run waits itself', 10_000, { wait: 'sleep', delayMs: 10_000 }],
  ['is longer', 10_001, { wait: 'requeue' }],
  ['is the longest that a receiver can ask for', 300_000, { wait: 'requeue' }],
  ['is longer than any: the clock was set back', 300_001, { wait: 'none' }],
]

test.each(waits)('a wait that %s', (_, delayMs, wait) => {
  expect(retryWait(noon + delayMs, noon)).toEqual(wait)
})
