import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import { advanceUntil, deliveriesOf, patch } from './acts.ts'

test('a subscription with maxInFlight has up to that many wakes in flight, started in order', async () => {
  await using gateway = await startGateway()
  const held: ServerResponse[] = []
  await using receiver = await startReceiver((_wake, res) => held.push(res))
  const donna = await gateway.addAgent('donna')
  const { id } = await gateway.subscribe(donna, receiver.url, { harnessTargetMetadata: { maxInFlight: 4 } })
  for (let i = 0; i < 10; i++) await gateway.send('donna', `task ${i}`)

  await receiver.waitFor(4)
  expect(receiver.wakes).toHaveLength(4)
  const cursor = async () =>
    (await gateway.call('GET', `/v1/wake-subscriptions/${id}`, undefined, { key: donna.key })).body.lastEmittedLogId
  // The newest three are acknowledged, the oldest is not: the cursor stays.
  for (const res of held.slice(1)) res.writeHead(204).end()
  expect(await cursor()).toBeNull()
  receiver.respond(204)
  held[0]!.writeHead(204).end()

  const wakes = await receiver.waitFor(10)
  const logIds = wakes.map(({ body }) => body.logId)
  expect(new Set(logIds).size).toBe(10)
  const chain = [...wakes].sort((a, b) => a.body.logId - b.body.logId)
  expect(chain.map(({ body }) => body.prevLogId)).toEqual([null, ...chain.slice(0, -1).map(({ body }) => body.logId)])
  await until(cursor, (last) => last === Math.max(...logIds))
})

test('a failure among wakes in flight is recorded in order, and the others are not sent again', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock, random: () => 0 } })
  const failing = new Set<number>()
  await using receiver = await startReceiver((wake, res) => {
    failing.add(wake.body.logId)
    const second = [...failing].sort((a, b) => a - b)[1]
    res.writeHead(wake.body.logId === second ? 500 : 204).end()
  })
  const donna = await gateway.addAgent('donna')
  const { id } = await gateway.subscribe(donna, receiver.url, { harnessTargetMetadata: { maxInFlight: 8 } })
  for (let i = 0; i < 5; i++) await gateway.send('donna', `task ${i}`)

  const deliveries = await advanceUntil(
    clock,
    250,
    () => deliveriesOf(gateway, donna, id),
    (all) => all.length === 5 && all.every(({ outcome }: { outcome: string }) => outcome !== 'pending'),
  )
  expect(deliveries.map(({ outcome }: { outcome: string }) => outcome)).toEqual([
    'delivered',
    'delivered',
    'delivered',
    'failed',
    'delivered',
  ])
  expect(receiver.wakes).toHaveLength(4 + 4) // four once, and one four times
})

test('maxInFlight outside 1 to 64 is refused', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const metadata = { url: 'http://127.0.0.1:9/', maxInFlight: 65 }
  const answer = await gateway.call(
    'POST',
    '/v1/wake-subscriptions',
    { trigger: 'SENT_TO_ME', harnessTargetMetadata: metadata },
    { key: donna.key },
  )
  expect(answer.status).toBe(400)
  expect(answer.body.field).toBe('harnessTargetMetadata.maxInFlight')
})

test('what is in flight when the subscription is paused, and arrives, is not sent again', async () => {
  await using gateway = await startGateway()
  const held: ServerResponse[] = []
  await using receiver = await startReceiver((_wake, res) => held.push(res))
  const donna = await gateway.addAgent('donna')
  const { id } = await gateway.subscribe(donna, receiver.url, { harnessTargetMetadata: { maxInFlight: 4 } })
  for (let i = 0; i < 3; i++) await gateway.send('donna', `task ${i}`)
  await receiver.waitFor(3)
  await patch(gateway, donna, id, { status: 'paused' })
  for (const [index, res] of held.entries()) {
    res.writeHead(204).end()
    await until(
      () => deliveriesOf(gateway, donna, id),
      (all) => all.length === index + 1,
    )
  }
  receiver.respond(204)
  await patch(gateway, donna, id, { status: 'active' })
  await gateway.send('donna', 'task 3')
  const wakes = await receiver.waitFor(4)
  expect(wakes[3]!.body.prevLogId).toBe(wakes[2]!.body.logId)
  expect(new Set(wakes.map(({ body }) => body.logId)).size).toBe(4)
})
