import { expect, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import { chainOf, deliveriesOf, eventsOf, logIdsOf, patch, resync, stateOf, untilStatus } from '../wakes/acts.ts'

async function startWithFive() {
  const gateway = await startGateway()
  const receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const { id } = await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME' })
  const priorities = ['high', 'low', 'high', 'low', 'high']
  for (const [i, priority] of priorities.entries()) {
    await gateway.send('donna', `message ${i}`, { message: { metadata: { priority } } })
  }
  const first = [...(await receiver.waitFor(5))]
  await until(
    () => stateOf(gateway, donna, id),
    ({ lastEmittedLogId }) => lastEmittedLogId === first[4]!.body.logId,
  )
  return {
    gateway,
    receiver,
    donna,
    id,
    first,
    async [Symbol.asyncDispose]() {
      await receiver[Symbol.asyncDispose]()
      await gateway[Symbol.asyncDispose]()
    },
  }
}

// S1-29
test('sends every event after the watermark again, under its logId and a new eventId', async () => {
  await using world = await startWithFive()
  const { gateway, receiver, donna, id, first } = world
  const seen = first[1]!.body.logId
  const answer = await resync(gateway, donna, id, seen)
  expect(answer.status).toBe(200)
  expect(answer.body).toEqual({ subscriptionId: id, eventsReplayed: 3, lastLogId: first[4]!.body.logId })

  await gateway.send('donna', 'live goes on')
  const again = (await receiver.waitFor(9)).slice(5)
  expect(logIdsOf(again.slice(0, 3))).toEqual(logIdsOf(first.slice(2)))
  expect(again.slice(0, 3).map(({ body }) => body.payload)).toEqual(first.slice(2).map(({ body }) => body.payload))
  expect(chainOf(again).map(([prev]) => prev)).toEqual([seen, ...logIdsOf(again).slice(0, -1)])
  expect(new Set(receiver.wakes.map(({ body }) => body.eventId)).size).toBe(9)
  expect(again[3]!.body.payload.subject).toBe('live goes on')

  const deliveries = await until(
    () => deliveriesOf(gateway, donna, id),
    ({ length }) => length === 9,
  )
  expect(deliveries.map(({ eventId }) => eventId)).toEqual(receiver.wakes.map(({ body }) => body.eventId).reverse())
  const [event] = await eventsOf(gateway, 'subscription.resynced')
  expect(event.data).toMatchObject({ subscriptionId: id, sinceLogId: seen, eventsReplayed: 3 })
})

test('applies the filters of now', async () => {
  await using world = await startWithFive()
  const { gateway, receiver, donna, id, first } = world
  await patch(gateway, donna, id, { filters: { priority: 'low' } })
  expect((await resync(gateway, donna, id, 0)).body).toMatchObject({
    eventsReplayed: 2,
    lastLogId: first[3]!.body.logId,
  })
  const again = (await receiver.waitFor(7)).slice(5)
  expect(again.map(({ body }) => body.payload.subject)).toEqual(['message 1', 'message 3'])
  expect(again[0]!.body.prevLogId).toBeNull()
})

test('twice in a row ends with everything sent in order', async () => {
  await using world = await startWithFive()
  const { gateway, receiver, donna, id, first } = world
  await Promise.all([resync(gateway, donna, id, 0), resync(gateway, donna, id, 0), resync(gateway, donna, id, 0)])
  await until(
    () => logIdsOf(receiver.wakes.slice(-5)),
    (last) => receiver.wakes.length >= 10 && JSON.stringify(last) === JSON.stringify(logIdsOf(first)),
  )
})

test('from the newest event sends nothing', async () => {
  await using world = await startWithFive()
  const { gateway, receiver, donna, id, first } = world
  const newest = first[4]!.body.logId
  expect((await resync(gateway, donna, id, newest)).body).toMatchObject({ eventsReplayed: 0, lastLogId: newest })
  await gateway.send('donna', 'next')
  const wakes = await receiver.waitFor(6)
  expect(wakes[5]!.body).toMatchObject({ prevLogId: newest, payload: { subject: 'next' } })
})

test('a watermark ahead of the log is refused', async () => {
  await using world = await startWithFive()
  const { gateway, donna, id } = world
  const { lastLogId } = (await gateway.call('GET', '/v1/events?limit=1')).body
  const answer = await resync(gateway, donna, id, lastLogId + 1)
  expect(answer.status).toBe(409)
  expect(answer.body).toMatchObject({ code: 'watermark-ahead', field: 'sinceLogId', lastLogId })
})

test.each([-1, 1.5, '3', null])('a watermark of %j is refused', async (sinceLogId) => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const { id } = await gateway.subscribe(donna, 'http://127.0.0.1:9/')
  const answer = await resync(gateway, donna, id, sinceLogId as number)
  expect(answer.status).toBe(400)
  expect(answer.body).toMatchObject({ field: 'sinceLogId' })
})

// D5
test.each(['degraded', 'paused'])('a %s subscription is refused with the remedy', async (status) => {
  await using gateway = await startGateway()
  await using receiver = await startReceiver(401)
  const donna = await gateway.addAgent('donna')
  const { id } = await gateway.subscribe(donna, receiver.url)
  if (status === 'paused') await patch(gateway, donna, id, { status })
  else await gateway.send('donna', 'refused')
  await untilStatus(gateway, donna, id, status)
  const answer = await resync(gateway, donna, id, 0)
  expect(answer.status).toBe(409)
  expect(answer.body.code).toBe(`subscription-${status}`)
  expect(answer.body.detail).toContain('PATCH {"status":"active"}')
})

test('while events arrive, none is left out and the order is kept', async () => {
  await using world = await startWithFive()
  const { gateway, receiver, donna, id, first } = world
  const sending = Promise.all(Array.from({ length: 100 }, (_, i) => gateway.send('donna', `more ${i}`)))
  await Promise.all([resync(gateway, donna, id, 0), sending])
  const last = await until(
    () => receiver.wakes.filter(({ body }) => body.payload.subject.startsWith('more')),
    (wakes) => new Set(logIdsOf(wakes)).size === 100,
  )
  expect(last.length).toBeGreaterThanOrEqual(100)
  // Each new generation starts again at the watermark; within one the order never goes back.
  const restarts = receiver.wakes.findLastIndex(({ body }) => body.logId === first[0]!.body.logId)
  const replay = logIdsOf(receiver.wakes.slice(restarts))
  const once = replay.filter((logId, i) => logId !== replay[i - 1])
  expect(once).toEqual([...once].sort((a, b) => a - b))
  expect(once).toHaveLength(105)
})

test('a target without a channel keeps its cursor and sends nothing again', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const request = { trigger: 'SENT_TO_ME', harnessTarget: 'disabled' }
  const { body } = await gateway.call('POST', '/v1/wake-subscriptions', request, { key: donna.key })
  expect(body).toEqual({ subscriptionId: expect.any(String), harnessTarget: 'disabled' })
  await gateway.send('donna', 'kept for later')
  expect((await resync(gateway, donna, body.subscriptionId, 0)).body).toMatchObject({ eventsReplayed: 0 })
  await patch(gateway, donna, body.subscriptionId, { filters: {} })
  await gateway.send('donna', 'kept too')
  expect(await stateOf(gateway, donna, body.subscriptionId)).toMatchObject({ status: 'active', failedInARow: 0 })
  expect(await deliveriesOf(gateway, donna, body.subscriptionId)).toEqual([])
})
