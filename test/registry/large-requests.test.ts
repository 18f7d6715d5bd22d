import { beforeEach, expect, test } from 'vitest'
import { MiB } from '../../src/limits.ts'
import type { Caller } from '../../src/registry/callers/caller.ts'
import { Company } from '../../src/registry/shares/company.ts'
import { LargeRequests } from '../../src/registry/shares/large-requests.ts'
import { newBulk } from '../../src/registry/shares/large-spacing.ts'
import { FakeClock } from '../support/fake-clock.ts'

const mallory = {
  kind: 'agent',
  id: 'mallory',
  identity: '@mallory',
  projectId: 'p',
  limits: { largeMegabytesPerMinute: 1 },
}
const caller = mallory as unknown as Caller
const gone = new AbortController().signal
const request = (bytes = 0) => newBulk({ what: undefined, bytes, gone: () => gone })
let large: LargeRequests

beforeEach(() => {
  const clock = new FakeClock()
  const company = new Company(clock)
  company.note('bob')
  company.note('mallory')
  large = new LargeRequests(clock, company)
})

test('content is read if the allowance has room, and the next is refused', async () => {
  await large.beginReading(caller, request(), 4 * MiB)
  await expect(large.beginReading(caller, request(), 4 * MiB)).rejects.toThrow(/largeMegabytesPerMinute/)
})

test('a body that was counted does not let a request read content without a wait', async () => {
  const padded = [request(70_000), request(70_000)]
  for (const one of padded) expect(large.mayBegin(large.expect(caller, one)!)).toBe(true)
  await large.beginReading(caller, padded[0]!, 4 * MiB)
  await expect(large.beginReading(caller, padded[1]!, 4 * MiB)).rejects.toThrow(/largeMegabytesPerMinute/)
})

test('a request that has begun to read goes on, and what it reads counts', async () => {
  const list = request()
  await large.beginReading(caller, list, 2 * MiB)
  await large.beginReading(caller, list, 2 * MiB)
  expect(list.counted).toBe(4 * MiB)
})

test('what was expected and counted is not counted again', async () => {
  const known = request()
  known.counted = 4 * MiB
  await large.beginReading(caller, known, 4 * MiB)
  expect(known.counted).toBe(4 * MiB)
})

test('a body of unknown size waits when it has arrived, like one that announces its size', async () => {
  const [first, second] = [request(), request()]
  expect(await large.beginBody(caller, first, 2 * MiB)).toBe(true)
  expect(first.counted).toBe(2 * MiB)
  await expect(large.beginBody(caller, second, 2 * MiB)).rejects.toThrow(/largeMegabytesPerMinute/)
  expect(second.counted).toBe(0)
  expect(await large.beginBody(caller, request(), 60_000)).toBe(true)
})

test('after a refused body the next request of that name waits before its body is read', async () => {
  const named = () => ({ ...request(), what: 'Send' })
  await large.beginBody(caller, named(), 2 * MiB)
  expect(large.expect(caller, named())).toBeUndefined()
  await expect(large.beginBody(caller, named(), 2 * MiB)).rejects.toThrow()
  expect(large.expect(caller, named())?.bytes).toBe(2 * MiB)
})

test('a body whose client goes away while it waits counts', async () => {
  await large.beginBody(caller, request(), 1.2 * MiB)
  const client = new AbortController()
  const cancelled = newBulk({ what: undefined, bytes: 0, gone: () => client.signal })
  const going = large.beginBody(caller, cancelled, 4 * MiB)
  client.abort()
  expect([await going, cancelled.counted]).toEqual([false, 4 * MiB])
})

test('the answers of a request are counted as they are sent, each once, and its body with them', async () => {
  const one = request()
  await large.beginBody(caller, one, 2 * MiB)
  for (const soFar of [3 * MiB, 4 * MiB]) large.note(caller, one, soFar)
  expect(one.counted).toBe(4 * MiB)
})
