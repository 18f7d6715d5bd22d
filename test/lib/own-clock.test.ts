import { expect, test } from 'vitest'
import { OwnClock } from '../../src/lib/own-clock.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { SetClock } from '../support/set-clock.ts'

const minute = 60_000

/** A clock whose silence counts. */
function calm() {
  const clock = new SetClock()
  const own = new OwnClock(clock, () => clock.steady.now())
  clock.steady.advance(minute + 1)
  return { clock, counts: () => own.silenceUntil(clock.now()) === clock.now() }
}

test('silence does not count in the first minute', () => {
  const clock = new FakeClock()
  using own = new OwnClock(clock, () => clock.now())
  clock.advance(minute - 1)
  expect(own.silenceUntil(clock.now())).toBe(0)
  clock.advance(1)
  expect(own.silenceUntil(clock.now())).toBe(clock.now())
})

test.each([
  ['the machine sleeps', ({ clock }: ReturnType<typeof calm>) => clock.set(2 * minute)],
  ['the clock is set', ({ clock }: ReturnType<typeof calm>) => clock.set(-2 * minute)],
])('a minute after %s it counts again', (_, happens) => {
  const judge = calm()
  expect(judge.counts()).toBe(true)
  happens(judge)
  expect(judge.counts()).toBe(false)
  judge.clock.steady.advance(minute)
  expect(judge.counts()).toBe(false)
  judge.clock.steady.advance(10_000)
  expect(judge.counts()).toBe(true)
})

test('a process that was stopped for forty seconds starts a minute of grace, before its timers run', () => {
  let now = 0
  const timers: (() => void)[] = []
  const after = (_: number, work: () => void) => {
    timers.push(work)
    return () => {}
  }
  const clock = { now: () => now, after }
  using own = new OwnClock(clock, () => now)
  const pass = (ms: number) => {
    now += ms
    timers.shift()!()
  }
  for (let looks = 0; looks < 8; looks++) pass(10_000)
  expect(own.silenceUntil(now)).toBe(now)
  now += 40_000
  expect(own.silenceUntil(now)).toBe(0)
  pass(0)
  expect(own.silenceUntil(now)).toBe(0)
})
