import { expect, test } from 'vitest'
import { sleep } from '../../src/lib/clock.ts'
import { FakeClock } from '../support/fake-clock.ts'

test('a sleep ends in time and leaves no timer', async () => {
  const clock = new FakeClock()
  const sleeping = sleep(clock, 1_000)
  expect(clock.timerCount).toBe(1)
  clock.advance(1_000)
  await sleeping
  expect(clock.timerCount).toBe(0)
})

test('an abort ends a sleep at once, before and during it', async () => {
  const clock = new FakeClock()
  const stopping = new AbortController()
  const sleeping = sleep(clock, 1_000, stopping.signal)
  stopping.abort()
  await sleeping
  await sleep(clock, 1_000, stopping.signal)
  expect(clock.timerCount).toBe(0)
})
