import { getEventListeners } from 'node:events'
import { expect, test } from 'vitest'
import { InterruptibleSleep } from '../../src/lib/interruptible-sleep.ts'
import { FakeClock } from '../support/fake-clock.ts'

test('a wait of days leaves one listener and one timer, and none when it is over', async () => {
  const clock = new FakeClock()
  const { signal } = new AbortController()
  const sleep = new InterruptibleSleep(clock, signal)
  for (let count = 0; count < 100; count++) {
    const first = sleep.next(20_000)
    expect([getEventListeners(signal, 'abort').length, clock.timerCount]).toEqual([1, 1])
    clock.advance(20_000)
    await first
  }
  const last = sleep.next(20_000)
  sleep.end()
  await last
  expect([getEventListeners(signal, 'abort').length, clock.timerCount]).toEqual([0, 0])
})

test('an abort ends a sleep, and later ones end at once', async () => {
  const clock = new FakeClock()
  const controller = new AbortController()
  const sleep = new InterruptibleSleep(clock, controller.signal)
  const first = sleep.next(20_000)
  controller.abort()
  await first
  await sleep.next(20_000)
  expect(clock.timerCount).toBe(0)
})
