import { expect, test } from 'vitest'
import { furtherRequests } from '../../src/wake-stream/open-cost.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { readWakes } from '../support/wake-reader.ts'
import { openWakeSocket } from '../support/wake-socket.ts'
import { untilStatus } from '../wakes/acts.ts'

test.each([
  [0, 0],
  [1, 0],
  [4, 0],
  [5, 1],
  [49, 9],
  [50, 10],
])('the opening of a stream of %i subscriptions counts as %i further requests', (subscriptions, further) => {
  expect(furtherRequests(subscriptions)).toBe(further)
})

async function donnaHas(subscriptions: number, requestsPerMinute: number) {
  const clock = new FakeClock()
  const gateway = await startGateway({ overrides: { clock } })
  const donna = await gateway.addAgent('donna')
  const ids: string[] = []
  for (let count = 0; count < subscriptions; count++) ids.push(await subscribe(gateway, donna))
  await gateway.call('PATCH', '/v1/projects/default', { limits: { requestsPerMinute } })
  // The requests that the subscriptions have cost come back.
  clock.advance(3_600_000)
  const ask = () => gateway.call('GET', '/v1/whoami', undefined, donna)
  const open = async () => {
    await using reader = await readWakes(gateway, donna, ids)
    return reader.status
  }
  return { gateway, clock, donna, ids, ask, open, [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose]() }
}

async function subscribe(gateway: TestGateway, { key }: TestAgent): Promise<string> {
  const input = { trigger: 'SENT_TO_ME', harnessTarget: 'bridge-daemon' }
  return (await gateway.call('POST', '/v1/wake-subscriptions', input, { key })).body.subscriptionId
}

test('a stream that opens counts once more for five subscriptions, and who opens too many is told when it may', async () => {
  await using s = await donnaHas(50, 30)
  // Of 30, each opening takes eleven.
  expect([await s.open(), await s.open()]).toEqual([200, 200])
  const query = s.ids.map((id) => `subscription=${id}`).join('&')
  const again = () => s.gateway.call('GET', `/v1/wake-stream?${query}`, undefined, s.donna)
  const refused = await again()
  expect(refused.body).toMatchObject({ code: 'rate-limited', limitName: 'requestsPerMinute', limit: 30 })
  // Seven are left, an opening needs eleven, and one comes back in two seconds.
  expect(refused.headers.get('retry-after')).toBe('8')
  // A stream that it does not open costs no more than any request.
  expect((await s.ask()).status).toBe(200)
  s.clock.advance(10_000)
  expect(await s.open()).toBe(200)
})

test('a stream whose opening was refused for the rate is connected to nothing', async () => {
  await using s = await donnaHas(50, 12)
  expect(await s.open()).toBe(200)
  s.clock.advance(10_000)
  expect(await s.open()).toBe(429)
  await untilStatus(s.gateway, s.donna, s.ids[0]!, 'waiting')
})

test.each([1, 5])('a rate of %i a minute opens a stream of any size, once the whole of it is there', async (rate) => {
  await using s = await donnaHas(50, rate)
  expect(await s.open()).toBe(200)
  expect((await s.ask()).status).toBe(429)
  s.clock.advance(60_000)
  expect(await s.open()).toBe(200)
})

test('a WebSocket counts alike, and is refused before the handshake', async () => {
  await using s = await donnaHas(50, 12)
  using socket = await openWakeSocket(s.gateway, s.donna, s.ids)
  expect(socket.socket.readyState).toBe(socket.socket.OPEN)
  await expect(openWakeSocket(s.gateway, s.donna, s.ids)).rejects.toThrow('429')
})
