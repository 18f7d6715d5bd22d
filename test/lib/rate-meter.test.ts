import { expect, test } from 'vitest'
import { RateMeter } from '../../src/lib/rate-meter.ts'

const minuteMs = 60_000

test('of 20,000 at once so many pass as the rate allows, and the refusal says when the next one may', () => {
  const meter = new RateMeter()
  const waits = Array.from({ length: 20_000 }, () => meter.spend('mallory', 6_000, minuteMs, 1_000_000))
  expect(waits.filter((wait) => wait === 0)).toHaveLength(6_000)
  expect(waits.at(-1)).toBe(10)
  expect(meter.spend('donna', 6_000, minuteMs, 1_000_000)).toBe(0)
})

test('an allowance comes back evenly', () => {
  const meter = new RateMeter()
  for (let n = 0; n < 60; n++) expect(meter.spend('a', 60, minuteMs, 0)).toBe(0)
  expect(meter.spend('a', 60, minuteMs, 999)).toBe(1)
  expect(meter.spend('a', 60, minuteMs, 1_000)).toBe(0)
  expect(meter.spend('a', 60, minuteMs, 1_000)).toBe(1_000)
  expect(meter.spend('a', 60, minuteMs, 61_000)).toBe(0)
  expect(meter.spend('a', 60, minuteMs, 61_000)).toBe(0)
})

test('rates whose share is no whole number allow what they say', () => {
  for (const max of [1, 3, 7, 300, 6_000, 59_999]) {
    const meter = new RateMeter()
    const passed = Array.from({ length: max + 10 }, () => meter.spend('a', max, minuteMs, 1_766_000_000_000))
    expect(passed.filter((wait) => wait === 0).length, String(max)).toBe(max)
  }
})

test('a clock that is set back costs a window at the most', () => {
  const meter = new RateMeter()
  for (let n = 0; n < 10; n++) meter.spend('a', 10, minuteMs, 10 * minuteMs)
  expect(meter.spend('a', 10, minuteMs, 0)).toBeLessThanOrEqual(minuteMs)
  expect(meter.spend('a', 10, minuteMs, minuteMs)).toBe(0)
})

test('keys beyond what it remembers push out those that are whole again, and never grow the memory', () => {
  const meter = new RateMeter({ keysMax: 100 })
  for (let n = 0; n < 5; n++) meter.spend('busy', 5, minuteMs, 0)
  for (let n = 0; n < 50; n++) meter.spend(`idle-${n}`, 1, minuteMs, 0)
  expect(meter.spend('busy', 5, minuteMs, 20)).toBeGreaterThan(0)
  for (let n = 0; n < 5_000; n++) meter.spend(`late-${n}`, 1, minuteMs, 10 + n)
  expect(meter.size).toBeLessThanOrEqual(100)
})

test('several are taken together or not at all, and the refusal says when there are enough', () => {
  const meter = new RateMeter()
  expect(meter.spend('a', 60, minuteMs, 0, 50)).toBe(0)
  expect(meter.spend('a', 60, minuteMs, 0, 12)).toBe(2_000)
  expect(meter.spend('a', 60, minuteMs, 0, 10)).toBe(0)
  expect(meter.missingMs('a', { max: 60, windowMs: minuteMs }, 1_000, 5)).toBe(4_000)
  expect(meter.spend('a', 60, minuteMs, 5_000, 5)).toBe(0)
})

test('more than an allowance has takes all of it, so that it comes through when the whole of it is there', () => {
  const meter = new RateMeter()
  expect(meter.spend('a', 3, minuteMs, 0, 50)).toBe(0)
  expect(meter.spend('a', 3, minuteMs, 0)).toBe(20_000)
  expect(meter.spend('a', 3, minuteMs, 0, 50)).toBe(minuteMs)
  expect(meter.spend('a', 3, minuteMs, minuteMs, 50)).toBe(0)
})

test('what an act takes beside its first one leaves room for that one, and waits for both', () => {
  const allowance = { max: 3, windowMs: minuteMs }
  const meter = new RateMeter()
  const act = (now: number) => meter.spend('a', 3, minuteMs, now) || meter.spendFurther('a', allowance, now, 50)
  expect(act(0)).toBe(0)
  expect(act(0)).toBe(20_000)
  // One came back, and is taken. To wait for the two others alone would end one short of them again.
  expect(act(20_000)).toBe(minuteMs)
  expect(act(20_000 + minuteMs)).toBe(0)
})

test('an act of an allowance of one takes nothing further', () => {
  const meter = new RateMeter()
  const allowance = { max: 1, windowMs: minuteMs }
  expect(meter.spend('a', 1, minuteMs, 0)).toBe(0)
  expect(meter.spendFurther('a', allowance, 0, 10)).toBe(0)
  expect(meter.spendFurther('a', allowance, 0, 0)).toBe(0)
})
