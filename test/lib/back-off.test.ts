import { expect, test } from 'vitest'
import { BackOff } from '../../src/lib/back-off.ts'
import { FakeClock } from '../support/fake-clock.ts'

test('each wait is twice as long as the one before, up to the longest, and begins again after a success', () => {
  const backOff = new BackOff({ first: 100, max: 500 })
  expect([backOff.next(), backOff.next(), backOff.next(), backOff.next()]).toEqual([100, 200, 400, 500])
  backOff.reset()
  expect([backOff.next(), backOff.next()]).toEqual([100, 200])
})

test('a pause takes the next wait and at most a fifth more, and ends at once with its signal', async () => {
  const clock = new FakeClock()
  const backOff = new BackOff({ first: 100, max: 500 })
  const pause = backOff.pause(undefined, clock)
  clock.advance(99)
  expect(clock.timerCount).toBe(1)
  clock.advance(21)
  await pause
  const ended = new AbortController()
  const second = backOff.pause(ended.signal, clock)
  ended.abort()
  await second
  expect(clock.timerCount).toBe(0)
})
