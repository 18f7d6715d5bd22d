import { expect, test } from 'vitest'
import { companyLimits } from '../../src/gateway-limits.ts'
import { MiB } from '../../src/limits.ts'
import { LargeSpacing, newBulk } from '../../src/registry/shares/large-spacing.ts'
import { agentRates, allowanceOf } from '../../src/share-limits.ts'
import { FakeClock } from '../support/fake-clock.ts'

const large = 2 * MiB
const allowance = allowanceOf('largeMegabytesPerMinute', agentRates.largeMegabytesPerMinute.max)
const perMiBMs = allowance.windowMs
const request = (bytes = 0, what = '/v1/messages', client = new AbortController()) =>
  newBulk({ what, bytes, gone: () => client.signal })

test('what is small is expected to be small, and a large body or a large last answer is not', () => {
  const spacing = new LargeSpacing(new FakeClock())
  expect(spacing.expected('a', request(companyLimits.largeBytes.max))).toBe(0)
  expect(spacing.expected('a', request(large))).toBe(large)
  spacing.note('a', request(0, '/v1/tasks'), large, undefined)
  expect(spacing.expected('a', request(0, '/v1/tasks'))).toBe(large)
  expect(spacing.expected('b', request(0, '/v1/tasks'))).toBe(0)
  spacing.note('a', request(0, '/v1/tasks'), 10, undefined)
  expect(spacing.expected('a', request(0, '/v1/tasks'))).toBe(0)
})

test('the first large request begins at once, the next ones when time has passed for the ones before', async () => {
  const clock = new FakeClock()
  const spacing = new LargeSpacing(clock)
  const begun: number[] = []
  const start = clock.now()
  for (let n = 0; n < 3; n++)
    void spacing.wait('a', request(), large, allowance).then((isIn) => isIn && begun.push(clock.now() - start))
  void spacing.wait('b', request(), large, allowance).then(() => begun.push(0))
  for (let n = 0; n < 200; n++) {
    await new Promise(setImmediate)
    clock.advance(50)
  }
  expect(begun.slice(0, 2)).toEqual([0, 0])
  // One that begins leaves a debt: what it takes beyond the allowance has to come back.
  expect(begun[2]).toBeGreaterThanOrEqual(perMiBMs)
  expect(begun[3]! - begun[2]!).toBeGreaterThanOrEqual(2 * perMiBMs - 50)
})

test('those that would wait too long are refused, and the others begin one after the other', async () => {
  const clock = new FakeClock()
  const spacing = new LargeSpacing(clock)
  const begun: boolean[] = []
  for (let n = 0; n < 6; n++) void spacing.wait('a', request(), 16 * MiB, allowance).then((isIn) => begun.push(isIn))
  for (let ms = 0; ms < companyLimits.largeWait.max * 1_000; ms += 500) {
    await new Promise(setImmediate)
    clock.advance(500)
  }
  await new Promise(setImmediate)
  // Each costs ten allowances at most: nine of them have to come back before the next one.
  const inTime = 1 + Math.floor((companyLimits.largeWait.max * 1_000) / (9 * perMiBMs))
  expect(begun.filter((isIn) => isIn)).toHaveLength(inTime)
  expect(begun).toHaveLength(6)
})

test('an answer that was not announced counts when it is over, and only while others are about', () => {
  const spacing = new LargeSpacing(new FakeClock())
  spacing.note('a', request(), large, undefined)
  expect(spacing.waitMs('a', allowance)).toBe(0)
  spacing.note('a', request(), large, allowance)
  expect(spacing.waitMs('a', allowance)).toBe(perMiBMs)
  const begun = request(large)
  expect(spacing.mayBegin('b', begun, large, allowance)).toBe(true)
  spacing.note('b', begun, large, allowance)
  expect(spacing.waitMs('b', allowance)).toBe(perMiBMs)
})

test('one whose client goes away waits no longer, and counts nothing', async () => {
  const spacing = new LargeSpacing(new FakeClock())
  expect(await spacing.wait('a', request(), large, allowance)).toBe(true)
  const before = spacing.waitMs('a', allowance)
  const client = new AbortController()
  const waiting = spacing.wait('a', request(0, '/v1/messages', client), large, allowance)
  client.abort()
  expect(await waiting).toBe(false)
  expect(spacing.waitMs('a', allowance)).toBe(before)
})

test('of those who ask for the same at the same time, the first one tells how large the others are', async () => {
  const spacing = new LargeSpacing(new FakeClock())
  const begun: string[] = []
  const enter = async (who: string, agentId: string, what: string) => {
    const leave = await spacing.enterAlone(agentId, request(0, what))
    begun.push(who)
    return leave
  }
  const leaveFirst = await enter('first', 'a', '/v1/tasks/1')
  const second = enter('second', 'a', '/v1/tasks/1')
  const third = enter('third', 'a', '/v1/tasks/1')
  const others = [await enter('other agent', 'b', '/v1/tasks/1'), await enter('other task', 'a', '/v1/tasks/2')]
  await new Promise(setImmediate)
  expect(begun).toEqual(['first', 'other agent', 'other task'])
  spacing.note('a', request(0, '/v1/tasks/1'), large, undefined)
  leaveFirst()
  // Both know now what to expect, and need not wait for each other.
  for (const leave of [...others, await second, await third]) leave()
  expect(spacing.expected('a', request(0, '/v1/tasks/1'))).toBe(large)
})

test('those who ask for the same small thing go in one after the other, and one that leaves twice lets nobody in', async () => {
  const spacing = new LargeSpacing(new FakeClock())
  const enter = () => spacing.enterAlone('a', request(0, '/v1/inbox'))
  const leaveFirst = await enter()
  const second = enter()
  leaveFirst()
  const leaveSecond = await second
  let isIn = false
  const third = enter().then((leave) => {
    isIn = true
    return leave
  })
  leaveFirst()
  await new Promise(setImmediate)
  expect(isIn).toBe(false)
  leaveSecond()
  ;(await third)()
  expect(isIn).toBe(true)
})

test('what only a body tells is not remembered by its path', () => {
  const spacing = new LargeSpacing(new FakeClock())
  const unnamed = { ...request(), what: undefined }
  spacing.note('a', unnamed, large, allowance)
  expect(spacing.expected('a', { ...request(), what: undefined })).toBe(0)
  expect(spacing.waitMs('a', allowance)).toBeGreaterThan(0)
})
