import { expect, test } from 'vitest'
import { companyLimits } from '../../src/gateway-limits.ts'
import { SendPace } from '../../src/wakes/run/send-pace.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'

const { wakesPaced, pacedAtOnce, wakeRuns } = companyLimits
const atOnce = wakesPaced.max * pacedAtOnce.max
const apartMs = 1_000 / wakesPaced.max

test('beside others, the wakes of an agent with many runs begin evenly spaced; alone, or with few runs, at once', () => {
  const clock = new FakeClock()
  let isCompanyAround = true
  const pace = new SendPace(() => isCompanyAround, clock)
  const waits = (agent: string, count: number, runs = wakeRuns.max + 1): (number | undefined)[] =>
    Array.from({ length: count }, () => pace.count(agent, runs))
  expect(waits('@mallory', atOnce)).toEqual(Array(atOnce).fill(0))
  expect(waits('@mallory', 4)).toEqual([1, apartMs, 2 * apartMs, 3 * apartMs])
  expect(waits('@bob', atOnce)).toEqual(Array(atOnce).fill(0))
  expect(waits('@mallory', 3, wakeRuns.max)).toEqual([undefined, undefined, undefined])
  isCompanyAround = false
  expect(waits('@mallory', 3)).toEqual([undefined, undefined, undefined])
  isCompanyAround = true
  clock.advance(60_000)
  expect(waits('@mallory', atOnce)).toEqual(Array(atOnce).fill(0))
})

const subscriptions = 100
/** How long the wakes of one event take at least. */
const leastMs = (subscriptions - atOnce - 1) * apartMs

/** The clock stands, so that everybody who has called stays active. */
async function start(dataDir?: string): Promise<TestGateway> {
  return startGateway({ ...(dataDir && { dataDir }), overrides: { clock: new FakeClock() } })
}

async function startMany(receiver: Receiver) {
  const gateway = await start()
  const mallory = await gateway.addAgent('mallory')
  const lola = await gateway.addAgent('lola')
  for (let n = 0; n < subscriptions; n++) await gateway.subscribe(mallory, `${receiver.url}${n}`)
  await gateway.subscribe(lola, `${receiver.url}lola`)
  return { gateway, [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose]() }
}

test('a hundred subscriptions that one event wakes are sent to at the pace', async () => {
  await using receiver = await startReceiver()
  await using s = await startMany(receiver)
  const sentAt = Date.now()
  await s.gateway.send('mallory', 'to a hundred')
  await s.gateway.send('lola', 'to one')
  const wakes = await receiver.waitFor(subscriptions + 1)
  expect(wakes.at(-1)!.at - sentAt).toBeGreaterThanOrEqual(leastMs * 0.9)
  expect(wakes.filter(({ body }) => body.agentIdentity === '@lola')).toHaveLength(1)
})

test('a gateway that stops while wakes wait for their pace ends at once, and the next one sends the rest', async () => {
  await using receiver = await startReceiver()
  await using s = await startMany(receiver)
  await s.gateway.send('mallory', 'to a hundred')
  await receiver.waitFor(atOnce)
  await s.gateway.stop()
  const sentBefore = receiver.wakes.length
  expect(sentBefore).toBeLessThan(subscriptions)
  await using _next = await start(s.gateway.dataDir)
  await receiver.waitFor(subscriptions)
  expect(new Set(receiver.wakes.map(({ body }) => body.eventId)).size).toBe(subscriptions)
})
