import { expect, test } from 'vitest'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'
import { besideStore } from '../support/store.ts'
import { until } from '../support/until.ts'
import { advanceUntil, type Json } from '../wakes/acts.ts'

type Sub = { id: string }

const replay = (gateway: TestGateway, agent: TestAgent, { id }: Sub, body: object) =>
  gateway.call('POST', `/v1/wake-subscriptions/${id}/replay`, body, { key: agent.key })
const deliveries = async (gateway: TestGateway, agent: TestAgent, { id }: Sub): Promise<Json[]> =>
  (await gateway.call('GET', `/v1/wake-subscriptions/${id}/deliveries`, undefined, { key: agent.key })).body.deliveries
const areRecorded = (count: number) => (all: Json[]) =>
  all.filter(({ outcome }) => outcome !== 'pending').length >= count
const recorded = (gateway: TestGateway, agent: TestAgent, sub: Sub, count: number) =>
  until(() => deliveries(gateway, agent, sub), areRecorded(count))

test('one delivery is sent again under the same logId and a new eventId, and the watermark stays', async () => {
  await using gateway = await startGateway()
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const sub = await gateway.subscribe(donna, receiver.url)
  await gateway.send('donna', 'one')
  await gateway.send('donna', 'two')
  const [first, second] = (await receiver.waitFor(2)).map(({ body }) => body)
  await recorded(gateway, donna, sub, 2)

  const answer = await replay(gateway, donna, sub, { eventId: first.eventId })
  expect(answer).toMatchObject({ status: 200, body: { subscriptionId: sub.id, eventsReplayed: 1 } })
  const again = (await receiver.waitFor(3))[2]!.body
  expect(again).toMatchObject({ logId: first.logId, payload: first.payload, prevLogId: second.logId })
  expect(again.eventId).not.toBe(first.eventId)

  await gateway.send('donna', 'three')
  const third = (await receiver.waitFor(4))[3]!.body
  expect(third.prevLogId).toBe(second.logId)
})

test('a range is sent again in order', async () => {
  await using gateway = await startGateway()
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const sub = await gateway.subscribe(donna, receiver.url)
  for (let i = 0; i < 5; i++) await gateway.send('donna', `task ${i}`)
  const logIds = (await receiver.waitFor(5)).map(({ body }) => body.logId)
  await recorded(gateway, donna, sub, 5)
  const { body } = await replay(gateway, donna, sub, { fromLogId: logIds[1], toLogId: logIds[3] })
  expect(body.eventsReplayed).toBe(3)
  const wakes = await receiver.waitFor(8)
  expect(wakes.slice(5).map((wake) => wake.body.logId)).toEqual(logIds.slice(1, 4))
})

/** An agent with one failed wake: the receiver refuses it. */
async function loseOne(gateway: TestGateway, clock: FakeClock, url: string) {
  const donna = await gateway.addAgent('donna')
  const sub = await gateway.subscribe(donna, url)
  const since = new Date(clock.now() - 60_000).toISOString()
  await gateway.send('donna', 'lost')
  const [delivery] = await advanceUntil(clock, 250, () => deliveries(gateway, donna, sub), areRecorded(1))
  return { donna, sub, since, delivery }
}

test('all failed events since an instant are sent again, as one digest if the subscription coalesces', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock, random: () => 0 } })
  await using receiver = await startReceiver(500)
  const { donna, sub, since } = await loseOne(gateway, clock, receiver.url)
  receiver.respond(200)
  const coalesced = { harnessTargetMetadata: { coalesceWindow: 1, coalesceMode: 'window' } }
  await gateway.call('PATCH', `/v1/wake-subscriptions/${sub.id}`, coalesced, { key: donna.key })

  const { body } = await replay(gateway, donna, sub, { failedSince: since })
  expect(body.eventsReplayed).toBe(1)
  const wakes = await advanceUntil(
    clock,
    250,
    () => receiver.wakes,
    ({ length }) => length >= 5,
  )
  expect(wakes[4]!.body).toMatchObject({ eventType: 'wake/digest', payload: { eventCount: 1 } })
})

test('pruned events are reported, not skipped silently', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock, random: () => 0 } })
  await using receiver = await startReceiver(500)
  const { donna, sub, since, delivery } = await loseOne(gateway, clock, receiver.url)
  await besideStore(gateway.dataDir, 'delete from event')
  await besideStore(gateway.dataDir, 'update project set log_tail = log_head')
  const [{ earliest }] = (await besideStore(gateway.dataDir, 'select max(log_tail) as earliest from project')) as [
    { earliest: number },
  ]

  const one = await replay(gateway, donna, sub, { eventId: delivery.eventId })
  expect(one.body).toMatchObject({ code: 'watermark-expired', field: 'eventId', earliestLogId: earliest })
  const failed = await replay(gateway, donna, sub, { failedSince: since })
  expect(failed.body).toEqual({ subscriptionId: sub.id, eventsReplayed: 0, earliestLogId: earliest })
})

test('a replay that is not possible is refused with the remedy', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const lola = await gateway.addAgent('lola')
  const sub = await gateway.subscribe(donna, 'http://127.0.0.1:9/')
  expect((await replay(gateway, donna, sub, { eventId: '01M7Y6B1A100206RMXT3HEVQQA' })).status).toBe(404)
  expect((await replay(gateway, donna, sub, {})).body.detail).toContain('failedSince')
  expect((await replay(gateway, lola, sub, { fromLogId: 1, toLogId: 2 })).status).toBe(404)
  await gateway.call('PATCH', `/v1/wake-subscriptions/${sub.id}`, { status: 'paused' }, { key: donna.key })
  expect((await replay(gateway, donna, sub, { fromLogId: 1, toLogId: 2 })).body.code).toBe('subscription-paused')
})

test('a requested replay survives a stop of the gateway before it is sent', async () => {
  const gateway = await startGateway()
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const sub = await gateway.subscribe(donna, receiver.url)
  await gateway.send('donna', 'one')
  await receiver.waitFor(1)
  const [delivery] = await recorded(gateway, donna, sub, 1)
  receiver.respond((_wake, res) => res.destroy())
  await replay(gateway, donna, sub, { eventId: delivery.eventId })
  await receiver.waitFor(2)
  await gateway.stop()
  receiver.respond(200)
  await using again = await startGateway({ dataDir: gateway.dataDir })
  const wakes = await receiver.waitFor(3)
  expect(wakes[2]!.body).toMatchObject({ eventId: wakes[1]!.body.eventId, logId: delivery.logIds[0] })
  expect(again.url).not.toBe('')
})
