import { expect, test } from 'vitest'
import { WriteBehind } from '../../src/lib/write-behind.ts'
import { FakeClock } from '../support/fake-clock.ts'

function batch({ failing = 0 } = {}) {
  const clock = new FakeClock()
  const written: number[][] = []
  const failures: unknown[] = []
  let waiting: number[] = []
  let left = failing
  const writer = new WriteBehind({
    clock,
    retryMs: 500,
    failed: (error) => failures.push(error),
    write: async () => {
      const items = waiting
      waiting = []
      await Promise.resolve()
      if (left-- > 0) {
        waiting = [...items, ...waiting]
        throw new Error('no')
      }
      written.push(items)
    },
  })
  return { clock, written, failures, writer, add: (item: number) => waiting.push(item) }
}

test('everything that is added within the delay is one write', async () => {
  const { clock, written, writer, add } = batch()
  for (const item of [1, 2, 3]) {
    add(item)
    writer.schedule(100)
    clock.advance(33)
  }
  expect(written).toEqual([])
  clock.advance(1)
  await writer.flush()
  expect(written[0]).toEqual([1, 2, 3])
})

test('the earliest of several delays counts', async () => {
  const { clock, written, writer, add } = batch()
  add(1)
  writer.schedule(1_000)
  writer.schedule(100)
  writer.schedule(1_000)
  expect(clock.timerCount).toBe(1)
  clock.advance(100)
  expect(clock.timerCount).toBe(0)
  await writer.flush()
  expect(written[0]).toEqual([1])
})

test('writes never overlap', async () => {
  const { written, writer, add } = batch()
  add(1)
  const first = writer.flush()
  add(2)
  await writer.flush()
  await first
  expect(written).toEqual([[1, 2], []])
})

test('a failed write is reported, and begins again after the retry delay', async () => {
  const { clock, written, failures, writer, add } = batch({ failing: 1 })
  add(1)
  expect(await writer.flush()).toBe(false)
  expect(failures).toHaveLength(1)
  expect(clock.timerCount).toBe(1)
  clock.advance(500)
  expect(await writer.flush()).toBe(true)
  expect(written[0]).toEqual([1])
})

test('disposing writes once more, and schedules nothing after that', async () => {
  const { clock, written, writer, add } = batch()
  add(1)
  writer.schedule(100)
  await writer[Symbol.asyncDispose]()
  expect(written).toEqual([[1]])
  writer.schedule(100)
  expect(clock.timerCount).toBe(0)
})
