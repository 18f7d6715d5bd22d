import { expect, test } from 'vitest'
import { nextProbeAt, probeStep } from '../../src/wakes/rules/probe-schedule.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { advanceUntil, eventsOf, patch, stateOf, untilStatus } from './acts.ts'

const minute = 60_000
const testsOf = (receiver: Receiver) => receiver.wakes.filter(({ body }) => body.eventType === 'wake/test')

/** A subscription that its receiver has degraded with this status. */
async function degraded(gateway: TestGateway, receiver: Receiver, status: number, metadata = {}) {
  receiver.respond(status)
  const donna = await gateway.addAgent('donna')
  const { id } = await gateway.subscribe(donna, receiver.url, { harnessTargetMetadata: metadata })
  await gateway.send('donna', 'refused')
  await untilStatus(gateway, donna, id, 'degraded')
  return { donna, id }
}

async function pass(gateway: TestGateway, clock: FakeClock, ms: number): Promise<void> {
  const end = clock.now() + ms
  await advanceUntil(
    clock,
    5_000,
    async () => {
      await gateway.call('GET', '/healthz')
      return clock.now()
    },
    (now) => now >= end,
  )
}

// D37
test('a degraded webhook is tried with a signed test after half a minute, and is active again with one digest', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock, random: () => 0 } })
  await using receiver = await startReceiver()
  const { donna, id } = await degraded(gateway, receiver, 404)
  await gateway.send('donna', 'meanwhile')
  await pass(gateway, clock, 20_000)
  expect(testsOf(receiver)).toHaveLength(0)
  receiver.respond(200)
  await advanceUntil(
    clock,
    5_000,
    () => stateOf(gateway, donna, id),
    ({ status, lastEmittedLogId }) => status === 'active' && lastEmittedLogId !== null,
  )
  const [probe] = testsOf(receiver)
  expect(probe!.headers['webhook-signature']).toMatch(/^v1,/)
  expect(probe!.body.payload).toEqual({ requestedBy: '@gateway' })
  expect(receiver.wakes.at(-1)!.body).toMatchObject({ eventType: 'wake/digest', payload: { eventCount: 2 } })
  expect(testsOf(receiver)).toHaveLength(1)
  const [recovered] = await eventsOf(gateway, 'subscription.recovered')
  expect(recovered).toMatchObject({ actor: '@gateway', data: { subscriptionId: id, reason: 'http-404' } })
})

test('a receiver that stays away is tried ever more rarely', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock, random: () => 0 } })
  await using receiver = await startReceiver()
  const { donna, id } = await degraded(gateway, receiver, 404)
  receiver.respond(503)
  await advanceUntil(
    clock,
    5_000,
    async () => {
      await gateway.call('GET', '/healthz')
      return testsOf(receiver).length
    },
    (count) => count === 5,
  )
  const triedAt = testsOf(receiver).map(({ body }) => Date.parse(body.emittedAt))
  const waits = triedAt.slice(1).map((at, index) => at - triedAt[index]!)
  expect(waits[0]).toBeGreaterThanOrEqual(30_000)
  for (const [index, wait] of waits.slice(1).entries()) expect(wait).toBeGreaterThan(waits[index]! * 1.5)
  expect(await stateOf(gateway, donna, id)).toMatchObject({ status: 'degraded', reason: 'http-404' })
})

test.each([
  ['says 410', 410, {}],
  ['is not to be tried', 404, { probe: false }],
])('a receiver that %s is left alone', async (_, status, metadata) => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock, random: () => 0 } })
  await using receiver = await startReceiver()
  const { donna, id } = await degraded(gateway, receiver, status, metadata)
  receiver.respond(200)
  await pass(gateway, clock, 3 * minute)
  expect(receiver.wakes).toHaveLength(1)
  expect(await stateOf(gateway, donna, id)).toMatchObject({ status: 'degraded' })
})

test('a degraded subscription that gets another URL is tried there soon', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock, random: () => 0 } })
  await using receiver = await startReceiver()
  await using other = await startReceiver()
  const { donna, id } = await degraded(gateway, receiver, 410)
  await patch(gateway, donna, id, { harnessTargetMetadata: { url: other.url } })
  await advanceUntil(
    clock,
    5_000,
    () => stateOf(gateway, donna, id),
    ({ status }) => status === 'active',
  )
  expect(testsOf(other)).toHaveLength(1)
})

test('the waits grow to half an hour, with jitter; a clock that was ahead stops nothing', () => {
  const degradedAt = 1_000_000
  const webhook = { harnessTarget: 'a2a-webhook', target: {}, updatedAt: degradedAt } as const
  expect(probeStep(webhook, degradedAt + 1, 0)).toEqual({ next: 'wait', until: degradedAt + 30_000 })
  expect(probeStep(webhook, degradedAt + 1, 0.5)).toEqual({ next: 'wait', until: degradedAt + 33_000 })
  expect(probeStep(webhook, degradedAt + 30_000, 0)).toEqual({ next: 'try' })
  expect(probeStep(webhook, degradedAt - minute, 0)).toEqual({ next: 'try' })
  expect(probeStep({ ...webhook, harnessTarget: 'none' }, degradedAt + minute, 0)).toEqual({ next: 'none' })
  expect(nextProbeAt(webhook, degradedAt + 30_000, 0)).toBe(degradedAt + 60_000)
  expect(nextProbeAt(webhook, degradedAt + 10 * 60 * minute, 0)).toBe(degradedAt + 10 * 60 * minute + 30 * minute)
})
