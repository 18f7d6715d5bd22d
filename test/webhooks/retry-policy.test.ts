import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { retryWaitMaxMs } from '../../src/wakes/channel.ts'
import { attemptsMax } from '../../src/wakes/rules/retry-schedule.ts'
import { type AttemptOutcome, afterAttempt } from '../../src/webhooks/retry-policy.ts'

const now = Date.UTC(2026, 3, 26, 10, 0, 0)
const plain = { now, random: () => 0 }
const retry = (delayMs: number) => ({ next: 'retry', delayMs })
const failed = (reason: string) => ({ next: 'failed', reason })
const rejected = (reason: string) => ({ next: 'rejected', reason })
const delivered = { next: 'delivered' }
const date = (afterMs: number) => new Date(now + afterMs).toUTCString()

type Case = readonly [outcome: AttemptOutcome, attempt: number, next: object]

// S1-34, D4
const outcomes: readonly Case[] = [
  [{ status: 200 }, 1, delivered],
  [{ status: 202 }, 4, delivered],
  [{ status: 204 }, 1, delivered],
  [{ status: 299, retryAfter: '60' }, 1, delivered],
  [{ status: 400 }, 1, rejected('http-400')],
  [{ status: 401 }, 1, rejected('http-401')],
  [{ status: 403 }, 1, rejected('http-403')],
  [{ status: 404 }, 1, rejected('http-404')],
  [{ status: 409 }, 2, rejected('http-409')],
  [{ status: 410 }, 1, rejected('gone')],
  [{ status: 413, retryAfter: '5' }, 1, { next: 'failed', reason: 'http-413' }],
  [{ status: 422 }, 1, rejected('http-422')],
  [{ status: 451 }, 1, rejected('http-451')],
  [{ status: 499 }, 1, rejected('http-499')],
  [{ status: 408 }, 1, retry(1000)],
  [{ status: 425 }, 2, retry(2000)],
  [{ status: 429 }, 3, retry(4000)],
  [{ status: 429 }, 4, failed('http-429')],
  [{ status: 300 }, 1, retry(1000)],
  [{ status: 301 }, 1, retry(1000)],
  [{ status: 302 }, 4, failed('http-302')],
  [{ status: 304 }, 1, retry(1000)],
  [{ status: 307 }, 2, retry(2000)],
  [{ status: 500 }, 1, retry(1000)],
  [{ status: 500 }, 2, retry(2000)],
  [{ status: 500 }, 3, retry(4000)],
  [{ status: 500 }, 4, failed('http-500')],
  [{ status: 503 }, 5, failed('http-503')],
  [{ status: 599 }, 1, retry(1000)],
  [{ status: 199 }, 1, retry(1000)],
  [{ status: 999 }, 1, retry(1000)],
  [{ error: 'dns' }, 1, retry(1000)],
  [{ error: 'connect' }, 2, retry(2000)],
  [{ error: 'timeout' }, 3, retry(4000)],
  [{ error: 'timeout' }, 4, failed('timeout')],
  [{ error: 'reset' }, 4, failed('reset')],
  [{ error: 'tls' }, 4, failed('tls')],
  [{ error: 'network' }, 4, failed('network')],
  [{ error: 'refused' }, 1, failed('url-not-allowed')],
  [{ error: 'aborted' }, 1, retry(1000)],
  [{ error: 'aborted' }, 4, retry(4000)],
]

describe('the outcome decides', () => {
  test.each(outcomes)('%j at attempt %i', (outcome, attempt, next) => {
    expect(afterAttempt(outcome, attempt, plain)).toEqual(next)
  })

  test('a receiver that is down is tried at 0, 1, 3 and 7 seconds', () => {
    const times = [0]
    let step = afterAttempt({ status: 500 }, 1, plain)
    while (step.next === 'retry') {
      times.push(times.at(-1)! + step.delayMs)
      step = afterAttempt({ status: 500 }, times.length, plain)
    }
    expect(times).toEqual([0, 1000, 3000, 7000])
    expect(times).toHaveLength(attemptsMax)
  })
})

const hints: readonly (readonly [retryAfter: string, attempt: number, delayMs: number])[] = [
  ['0', 1, 1000],
  ['1', 3, 4000],
  ['3', 1, 3000],
  ['120', 1, 120_000],
  [' 120 ', 1, 120_000],
  ['1.5', 1, 1500],
  ['300', 1, 300_000],
  ['301', 1, 300_000],
  ['9'.repeat(400), 1, 300_000],
  [date(30_000), 1, 30_000],
  [date(-30_000), 2, 2000],
  [date(86_400_000), 1, 300_000],
  ['Sunday, 26-Apr-26 10:00:30 GMT', 1, 30_000],
  ['Sun Apr 26 10:00:30 2026', 1, 30_000],
  ['', 1, 1000],
  ['-5', 1, 1000],
  ['+5', 1, 1000],
  ['5s', 1, 1000],
  ['0x10', 1, 1000],
  ['1e3', 1, 1000],
  ['Infinity', 1, 1000],
  ['soon', 1, 1000],
  ['Sun, never', 1, 1000],
  ['2026-04-26T10:00:30Z', 1, 1000],
]

describe('Retry-After', () => {
  test.each(hints)('"%s" at attempt %i', (retryAfter, attempt, delayMs) => {
    expect(afterAttempt({ status: 429, retryAfter }, attempt, plain)).toEqual(retry(delayMs))
  })

  test.each([408, 425, 429, 500, 503, 302])('is honoured on a %i', (status) => {
    expect(afterAttempt({ status, retryAfter: '30' }, 1, plain)).toEqual(retry(30_000))
  })

  test('does not buy a fifth attempt', () => {
    expect(afterAttempt({ status: 503, retryAfter: '30' }, 4, plain)).toEqual(failed('http-503'))
  })
})

describe('the delay', () => {
  const attempt = fc.integer({ min: 1, max: attemptsMax - 1 })
  const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
  const retryAfter = fc.oneof(
    fc.string(),
    fc.nat(1000).map(String),
    fc.date({ noInvalidDate: true }).map((at) => at.toUTCString()),
  )

  test('without a hint it is the schedule and at most a tenth more', () => {
    fc.assert(
      fc.property(attempt, random, (n, r) => {
        const base = 1000 * 2 ** (n - 1)
        const { delayMs } = delayOf({ error: 'timeout' }, n, r)
        expect(delayMs).toBeGreaterThanOrEqual(base)
        expect(delayMs).toBeLessThanOrEqual(base * 1.1)
        expect(delayMs).toBe(Math.trunc(delayMs))
      }),
    )
  })

  test('with any hint it is never earlier than the schedule and never longer than the cap', () => {
    fc.assert(
      fc.property(attempt, random, retryAfter, (n, r, hint) => {
        const { delayMs } = delayOf({ status: 503, retryAfter: hint }, n, r)
        expect(delayMs).toBeGreaterThanOrEqual(1000 * 2 ** (n - 1))
        expect(delayMs).toBeLessThanOrEqual(retryWaitMaxMs)
      }),
    )
  })

  test('it is never earlier than a hint within the cap', () => {
    fc.assert(
      fc.property(attempt, random, fc.nat(300), (n, r, seconds) => {
        expect(delayOf({ status: 429, retryAfter: String(seconds) }, n, r).delayMs).toBeGreaterThanOrEqual(
          seconds * 1000,
        )
      }),
    )
  })

  function delayOf(outcome: AttemptOutcome, n: number, r: number) {
    const step = afterAttempt(outcome, n, { now, random: () => r })
    if (step.next !== 'retry') throw new Error(`expected a retry, got ${step.next}`)
    return step
  }
})
