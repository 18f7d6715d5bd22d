import { expect, test } from 'vitest'
import { CallExpiries } from '../../src/identity/call-expiries.ts'
import { FakeClock } from '../support/fake-clock.ts'

const dayMs = 24 * 60 * 60 * 1_000

/** A clock that also says which delays were asked for. */
class ListeningClock extends FakeClock {
  readonly delays: number[] = []

  override after(delayMs: number, work: () => void): () => void {
    this.delays.push(delayMs)
    return super.after(delayMs, work)
  }
}

function open() {
  const clock = new ListeningClock()
  const expiries = new CallExpiries(clock)
  const add = (expiresAt?: number) => {
    const call = new AbortController()
    expiries.add(call, expiresAt)
    return call
  }
  return { clock, expiries, add }
}

test('each call ends at its own expiry, and not before', () => {
  const { clock, add } = open()
  const [late, never, early] = [add(clock.now() + 5_000), add(), add(clock.now() + 2_000)]
  const ended = () => [early, late, never].map(({ signal }) => signal.aborted)
  clock.advance(1_999)
  expect(ended()).toEqual([false, false, false])
  clock.advance(1)
  expect(ended()).toEqual([true, false, false])
  clock.advance(2_999)
  expect(ended()).toEqual([true, false, false])
  clock.advance(1)
  expect(ended()).toEqual([true, true, false])
  expect(clock.timerCount).toBe(0)
})

// The attack: thousands of calls, each under a key with an expiry of its own.
test('thousands of calls have one timer, and those that expire one after the other end in groups', () => {
  const { clock, expiries, add } = open()
  const calls = Array.from({ length: 5_000 }, (_, i) => add(clock.now() + 10_000 + i))
  expect(clock.timerCount).toBe(1)
  expect(clock.delays).toEqual([10_000])
  for (const call of calls.slice(2_000)) expiries.delete(call)
  expect(clock.timerCount).toBe(1)
  clock.advance(12_100)
  expect(calls.filter(({ signal }) => signal.aborted)).toHaveLength(2_000)
  expect(clock.delays.length).toBeLessThanOrEqual(1 + 2_000 / 100 + 1)
  expect(clock.timerCount).toBe(0)
})

// A timer of more than 2^31 - 1 ms runs at once.
test('an expiry in ten years waits in steps of a day', () => {
  const { clock, add } = open()
  const call = add(clock.now() + 3_650 * dayMs)
  clock.advance(3_650 * dayMs - 1)
  expect(call.signal.aborted).toBe(false)
  expect(Math.max(...clock.delays)).toBe(dayMs)
  clock.advance(100)
  expect(call.signal.aborted).toBe(true)
})

test('a call whose credential has expired already ends in the next tenth of a second', () => {
  const { clock, add } = open()
  const call = add(clock.now() - 1)
  clock.advance(100)
  expect(call.signal.aborted).toBe(true)
})

test('after its end it has no timer, and ends no call', () => {
  const { clock, expiries, add } = open()
  const call = add(clock.now() + 1_000)
  expiries[Symbol.dispose]()
  add(clock.now() + 1_000)
  expect(clock.timerCount).toBe(0)
  clock.advance(2_000)
  expect(call.signal.aborted).toBe(false)
})
