import fc from 'fast-check'
import { decodeTime, isValid } from 'ulid'
import { describe, expect, test } from 'vitest'
import { derivedUlid } from '../../src/lib/ids.ts'
import { DigestBuilder } from '../../src/wakes/content/digest.ts'
import { digestEmission, singleEmission } from '../../src/wakes/content/emission.ts'
import { dueAt } from '../../src/wakes/rules/window.ts'
import { messageSent, noon, subscriptionOf } from './builders.ts'

const time = fc.nat(2 ** 47)
const sequence = fc.nat(100_000)
const part = fc.oneof(fc.string(), fc.nat())

describe('a derived ULID', () => {
  test('is a ULID, the same for the same parts, and keeps its time', () => {
    fc.assert(
      fc.property(time, sequence, part, (at, seq, name) => {
        const id = derivedUlid(at, seq, name)
        expect(isValid(id)).toBe(true)
        expect(id).toMatch(/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/)
        expect(decodeTime(id)).toBe(at)
        expect(derivedUlid(at, seq, name)).toBe(id)
      }),
    )
  })

  test('sorts by time, then by sequence', () => {
    fc.assert(
      fc.property(time, fc.nat(65_534), part, part, (at, seq, a, b) => {
        expect(derivedUlid(at, seq, a) < derivedUlid(at, seq + 1, b)).toBe(true)
        expect(derivedUlid(at, 65_535, a) < derivedUlid(at + 1, 0, b)).toBe(true)
      }),
    )
  })

  test('differs where a part differs', () => {
    expect(derivedUlid(noon, 1, 'a', 'b')).not.toBe(derivedUlid(noon, 1, 'a', 'c'))
    expect(derivedUlid(noon, 1, 'a', 1)).not.toBe(derivedUlid(noon, 1, 'a', 2))
  })
})

describe('the eventId of an emission', () => {
  const digestOf = (...logIds: number[]) => {
    const digest = new DigestBuilder()
    for (const logId of logIds) digest.add(messageSent(logId))
    return digest
  }
  const single = (fields = {}, logId = 5, emittedAt = noon) =>
    singleEmission(subscriptionOf(fields), messageSent(logId), null, emittedAt).eventId
  const digest = (fields: object, ...logIds: number[]) =>
    digestEmission({ subscription: subscriptionOf(fields), identity: '@donna' }, digestOf(...logIds), null, noon)
      .eventId

  // S1-34
  test('is the same however often and whenever it is sent', () => {
    expect(single({}, 5, noon + 60_000)).toBe(single())
    expect(digest({}, 5, 6)).toBe(digest({}, 5, 6))
    expect(single({ failedInARow: 2, lastEmittedLogId: 3 })).toBe(single())
  })

  // S1-29
  test('is another one for another subscription, event, range, form or generation', () => {
    const ids = [
      single(),
      single({ id: 'WAKE_SUB:2' }),
      single({}, 6),
      single({ generation: 1, generationAt: noon }),
      digest({}, 5),
      digest({}, 5, 6),
      digest({}, 4, 6),
      digest({ generation: 1 }, 5, 6),
    ]
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('of a replay sorts after earlier wakes', () => {
    const replayed = { generation: 1, generationAt: noon + 1000 }
    expect(single(replayed, 1) > single({}, 9)).toBe(true)
    expect(single(replayed, 1) < single(replayed, 2)).toBe(true)
  })
})

describe('when an event falls due', () => {
  // S1-39, D3
  test.each([
    ['no window: at once', { coalesceMs: 0, windowUntil: 0 }, {}, noon],
    ['a window: when it closes', { coalesceMs: 30_000, windowUntil: 0 }, {}, noon + 30_000],
    ['leading after a quiet spell: at once', { coalesceMs: 30_000, windowUntil: noon - 1 }, 'leading', noon],
    [
      'leading after a wake: when its window closes',
      { coalesceMs: 30_000, windowUntil: noon + 9 },
      'leading',
      noon + 9,
    ],
  ])('%s', (_, subscription, mode, due) => {
    const target = mode === 'leading' ? {} : { coalesceMode: 'window' as const }
    expect(dueAt(subscriptionOf({ ...subscription, target }), noon, noon)).toBe(due)
  })

  test.each([{}, { coalesceMode: 'window' as const }])(
    '%j: never further off than a window, when the clock was set back',
    (target) => {
      const subscription = subscriptionOf({ coalesceMs: 30_000, windowUntil: noon + 30_000, target })
      expect(dueAt(subscription, noon, noon - 3_600_000)).toBe(noon - 3_600_000 + 30_000)
    },
  )
})
