import { getEventListeners } from 'node:events'
import { expect, test } from 'vitest'
import { Naps } from '../../src/wakes/run/naps.ts'
import { FakeClock } from '../support/fake-clock.ts'

test('a wait of days leaves one listener and one timer, and none when it is over', async () => {
  const clock = new FakeClock()
  const { signal } = new AbortController()
  const naps = new Naps(clock, signal)
  for (let count = 0; count < 100; count++) {
    const nap = naps.next(20_000)
    expect([getEventListeners(signal, 'abort').length, clock.timerCount]).toEqual([1, 1])
    clock.advance(20_000)
    await nap
  }
  const last = naps.next(20_000)
  naps.end()
  await last
  expect([getEventListeners(signal, 'abort').length, clock.timerCount]).toEqual([0, 0])
})

test('an abort ends the nap, and there is none after it', async () => {
  const clock = new FakeClock()
  const controller = new AbortController()
  const naps = new Naps(clock, controller.signal)
  const nap = naps.next(20_000)
  controller.abort()
  await nap
  await naps.next(20_000)
  expect(clock.timerCount).toBe(0)
})
