import { beforeEach, expect, test } from 'vitest'
import { companyLimits } from '../../src/gateway-limits.ts'
import { ContentAtOnce } from '../../src/registry/shares/content-at-once.ts'
import { type Bulk, newBulk } from '../../src/registry/shares/large-spacing.ts'
import { FakeClock } from '../support/fake-clock.ts'

const waitMs = companyLimits.largeWait.max * 1_000
const request = (client = new AbortController()) => newBulk({ what: undefined, bytes: 0, gone: () => client.signal })
let clock: FakeClock
let content: ContentAtOnce

beforeEach(() => {
  clock = new FakeClock()
  content = new ContentAtOnce(clock, 100)
})

/** Takes content for mallory. `hasRoom`: undefined while it waits. */
function take(one: Bulk, bytes: number): { hasRoom: boolean | undefined } {
  const state: { hasRoom: boolean | undefined } = { hasRoom: undefined }
  void content.take('mallory', one, bytes).then((hasRoom) => (state.hasRoom = hasRoom))
  return state
}
const settled = () => new Promise((resolve) => setImmediate(resolve))
const end = async (one: Bulk) => {
  content.free('mallory', one)
  await settled()
}

test('what has no room waits in its order, and goes on when an answer is over', async () => {
  const requests = [60, 60, 10, 10].map((bytes) => ({ bytes, one: request() }))
  const taken = requests.map(({ one, bytes }) => take(one, bytes))
  await settled()
  expect(taken.map(({ hasRoom }) => hasRoom)).toEqual([true, undefined, undefined, undefined])
  expect(await content.take('bob', request(), 100)).toBe(true)
  await end(requests[0]!.one)
  expect(taken.map(({ hasRoom }) => hasRoom)).toEqual([true, true, true, true])
  for (const { one } of requests) await end(one)
  expect([content.bytesOf('mallory'), clock.timerCount]).toEqual([0, 0])
})

test('one answer may be larger than the bound, alone', async () => {
  const [huge, small] = [request(), request()]
  expect(await content.take('mallory', huge, 1_000)).toBe(true)
  const waits = take(small, 1)
  await settled()
  expect(waits.hasRoom).toBeUndefined()
  await end(huge)
  expect(waits.hasRoom).toBe(true)
})

test('a wait ends after its time-out, or when the client goes away; later requests still wait', async () => {
  const client = new AbortController()
  const first = request()
  take(first, 60)
  const [late, gone] = [take(request(), 60), take(request(client), 60)]
  const later = take(request(), 30)
  client.abort()
  await settled()
  expect([late.hasRoom, gone.hasRoom, later.hasRoom]).toEqual([undefined, false, undefined])
  clock.advance(waitMs)
  await settled()
  expect(late.hasRoom).toBe(false)
  expect(clock.timerCount).toBe(0)
  expect(await content.take('mallory', request(client), 1)).toBe(false)
})

test('requests that read more and more never wait for each other without end', async () => {
  const [one, other, newcomer] = [request(), request(), request()]
  take(one, 50)
  take(other, 40)
  const late = take(newcomer, 20)
  const more = [take(one, 30), take(other, 30)]
  await settled()
  // All that have read something would wait: the first of them goes on.
  expect([...more, late].map(({ hasRoom }) => hasRoom)).toEqual([true, undefined, undefined])
  await end(one)
  expect([...more, late].map(({ hasRoom }) => hasRoom)).toEqual([true, true, true])
  await end(other)
  await end(newcomer)
  expect(content.bytesOf('mallory')).toBe(0)
})
