import { describe, expect, test } from 'vitest'
import { collect, connect, dialects, tell } from '../a2a/connect.ts'
import { openEventStream } from '../support/event-stream.ts'
import { startReceiver } from '../support/receiver.ts'
import { hasRedis, redisServer } from '../support/redis.ts'
import { startTwo } from './two-gateways.ts'

const buses = [{ bus: 'NOTIFY' }, ...(hasRedis ? [{ bus: 'Redis' }] : [])] as const

async function startOn(bus: string) {
  const redis = bus === 'Redis' ? await redisServer() : undefined
  await redis?.start()
  const gateways = await startTwo(redis ? { ROUSE_BUS_URL: redis.url } : {})
  return {
    ...gateways,
    redis,
    async [Symbol.asyncDispose]() {
      await gateways[Symbol.asyncDispose]()
      await redis?.[Symbol.asyncDispose]()
    },
  }
}

describe.each(buses)('changes on one gateway show on another, with $bus', ({ bus }) => {
  test.each(dialects)('a stream and a blocking call, A2A $version over $binding', async (dialect) => {
    await using two = await startOn(bus)
    const { a, b } = two
    const donna = await a.addAgent('donna')
    const lucy = await b.addAgent('lucy')
    const client = await connect(a, donna, lucy.key, dialect)

    const { id } = await b.send('donna', 'please', { key: lucy.key })
    const stream = client.resubscribeTask({ tenant: '', id })
    expect(tell((await stream.next()).value!)).toBe('task submitted')
    await b.move(donna, id, 'working')
    const body = { artifact: { artifactId: 'report', parts: [{ text: 'one' }] } }
    await b.call('POST', `/v1/tasks/${id}/artifacts`, body, { key: donna.key })
    await a.move(donna, id, 'input-required')
    await b.move(donna, id, 'completed')
    expect(await collect(stream)).toEqual([
      'status working',
      'artifact one',
      'status input-required',
      'status completed',
    ])
  })

  test('a blocking SendMessage on one gateway is answered after a harness works through the other', async () => {
    await using two = await startOn(bus)
    const { a, b } = two
    const donna = await a.addAgent('donna')
    const lucy = await a.addAgent('lucy')
    await using receiver = await startReceiver()
    await b.subscribe(donna, receiver.url)
    const answer = a.send('donna', 'please', { key: lucy.key, configuration: { returnImmediately: false } })
    const [wake] = await receiver.waitFor(1)
    const { taskId } = wake!.body.payload
    await b.move(donna, taskId, 'working')
    await b.move(donna, taskId, 'completed')
    expect(await answer).toMatchObject({ id: taskId, status: { state: 'TASK_STATE_COMPLETED' } })
  })

  test('an event stream on one gateway has the events of both, without a gap and in order', async () => {
    await using two = await startOn(bus)
    const { a, b } = two
    const donna = await a.addAgent('donna')
    await using stream = await openEventStream(`${a.url}/v1/events?since=0`, { authorization: `Bearer ${a.adminKey}` })
    await Promise.all(Array.from({ length: 60 }, (_, i) => (i % 2 ? a : b).send('donna', `task ${i}`)))
    await b.call('POST', '/v1/agents', { handle: 'last' })
    const ids: number[] = []
    for (let type = ''; type !== 'agent.created' || ids.length < 60; ) {
      const [event] = await stream.take(1)
      ids.push(Number(event!.id))
      type = event!.event
    }
    expect(ids).toEqual(ids.map((_, i) => ids[0]! + i))
    expect(donna.handle).toBe('@donna')
  })

  test('a subscription that is paused through one is not sent for by the other any more', async () => {
    await using two = await startOn(bus)
    const { a, b } = two
    const donna = await a.addAgent('donna')
    await using receiver = await startReceiver(500)
    const { id } = await a.subscribe(donna, receiver.url)
    await a.send('donna', 'please')
    await receiver.waitFor(1)
    const paused = await b.call('PATCH', `/v1/wake-subscriptions/${id}`, { status: 'paused' }, { key: donna.key })
    expect(paused.status).toBe(200)
    receiver.respond(200)
    await b.call('PATCH', `/v1/wake-subscriptions/${id}`, { status: 'active' }, { key: donna.key })
    const wakes = await receiver.waitFor(2)
    expect(wakes.at(-1)!.body.eventType).toBe('wake/digest')
  })
})

test.runIf(hasRedis)('a lost bus costs time and no event; it is used again when it is back', async () => {
  await using two = await startOn('Redis')
  const { a, b } = two
  const donna = await a.addAgent('donna')
  await two.redis!.kill()
  const answer = a.send('donna', 'please', { configuration: { returnImmediately: false } })
  const { body } = await b.call('GET', '/v1/tasks?role=assignee', undefined, { key: donna.key })
  const waiting = async () => {
    for (;;) {
      const list = await b.call('GET', '/v1/tasks?role=assignee', undefined, { key: donna.key })
      if (list.body.tasks.length > 0) return list.body.tasks[0].id
    }
  }
  const taskId = body.tasks[0]?.id ?? (await waiting())
  await b.move(donna, taskId, 'working')
  await b.move(donna, taskId, 'completed')
  expect(await answer).toMatchObject({ status: { state: 'TASK_STATE_COMPLETED' } })
})
