import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { collect, connect, currentHttp, dialects, tell } from './connect.ts'
import { type EventSource, openEvents } from './event-source.ts'

let gateway: TestGateway
let donna: TestAgent
let lucy: TestAgent

beforeAll(async () => {
  gateway = await startGateway()
  donna = await gateway.addAgent('donna')
  lucy = await gateway.addAgent('lucy')
})

afterAll(() => gateway[Symbol.asyncDispose]())

function newTask() {
  return gateway.send('donna', 'please', { key: lucy.key })
}

async function artifact(taskId: string, text: string) {
  const body = { artifact: { artifactId: 'report', parts: [{ text }] } }
  const { status } = await gateway.call('POST', `/v1/tasks/${taskId}/artifacts`, body, { key: donna.key })
  expect(status).toBe(201)
}

/** SubscribeToTask by hand, over REST. */
function subscribe(taskId: string, lastEventId?: string): Promise<EventSource> {
  return openEvents(`${gateway.url}/agents/donna/tasks/${taskId}:subscribe`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${lucy.key}`,
      'A2A-Version': '1.0',
      ...(lastEventId === undefined ? {} : { 'Last-Event-ID': lastEventId }),
    },
  })
}

describe.each(dialects)('subscriptions to a task, A2A $version over $binding', (dialect) => {
  test('three streams see the same events in the same order, also when one of them leaves early', async () => {
    const { id } = await newTask()
    const client = await connect(gateway, donna, lucy.key, dialect)
    const streams = [1, 2, 3].map(() => client.resubscribeTask({ tenant: '', id }))
    const firsts = await Promise.all(streams.map(async (stream) => tell((await stream.next()).value!)))
    expect(firsts).toEqual(['task submitted', 'task submitted', 'task submitted'])

    await gateway.move(donna, id, 'working')
    expect(tell((await streams[2]!.next()).value!)).toBe('status working')
    await streams[2]!.return()
    await artifact(id, 'one')
    await artifact(id, 'two')
    await gateway.move(donna, id, 'completed')

    const expected = ['status working', 'artifact one', 'artifact two', 'status completed']
    expect(await Promise.all(streams.slice(0, 2).map(collect))).toEqual([expected, expected])
  })

  test('a subscription outlives input-required', async () => {
    const { id } = await newTask()
    const client = await connect(gateway, donna, lucy.key, dialect)
    const stream = client.resubscribeTask({ tenant: '', id })
    await stream.next()
    await gateway.move(donna, id, 'input-required')
    await gateway.send('donna', 'blue', { key: lucy.key, message: { taskId: id } })
    await gateway.move(donna, id, 'completed')
    expect(await collect(stream)).toEqual(['status input-required', 'status submitted', 'status completed'])
  })

  test('a task that does not exist cannot be subscribed to', async () => {
    const client = await connect(gateway, donna, lucy.key, dialect)
    await expect(client.resubscribeTask({ tenant: '', id: 'nope' }).next()).rejects.toThrow(/No task nope/i)
  })
})

describe('a stream that breaks', () => {
  test('continues after Last-Event-ID: no event is missed or repeated', async () => {
    const { id } = await newTask()
    const seen: string[] = []
    let lastEventId: string | undefined
    {
      await using first = await subscribe(id)
      expect((await first.next())?.data.task).toMatchObject({ id, status: { state: 'TASK_STATE_SUBMITTED' } })
      await gateway.move(donna, id, 'working')
      const event = await first.next()
      seen.push(event?.data.statusUpdate.status.state)
      lastEventId = event?.id
    }
    await artifact(id, 'one')
    await artifact(id, 'two')
    await using second = await subscribe(id, lastEventId)
    seen.push((await second.next())?.data.artifactUpdate.artifact.parts[0].text)
    seen.push((await second.next())?.data.artifactUpdate.artifact.parts[0].text)
    await gateway.move(donna, id, 'completed')
    seen.push(...(await second.rest()).map(({ data }) => data.statusUpdate.status.state))
    expect(seen).toEqual(['TASK_STATE_WORKING', 'one', 'two', 'TASK_STATE_COMPLETED'])
  })

  test('ids are positions in the log and grow; the snapshot has one too', async () => {
    const { id } = await newTask()
    await using stream = await subscribe(id)
    const first = await stream.next()
    await gateway.move(donna, id, 'working')
    await gateway.move(donna, id, 'failed')
    const ids = [first, ...(await stream.rest())].map((event) => Number(event?.id))
    expect(ids).toHaveLength(3)
    expect(ids.every((logId, index) => logId > (ids[index - 1] ?? 0))).toBe(true)
    const { body } = await gateway.call('GET', `/v1/events?since=${ids[0]}`, undefined, { key: donna.key })
    expect(body.events.map(({ logId }: { logId: number }) => logId)).toEqual(expect.arrayContaining(ids.slice(1)))
  })

  test('sends the missed events of a task that has finished meanwhile, and ends', async () => {
    const { id } = await newTask()
    const first = await subscribe(id)
    const start = await first.next()
    await first[Symbol.asyncDispose]()
    await gateway.move(donna, id, 'working')
    await gateway.move(donna, id, 'completed')
    await using second = await subscribe(id, start?.id)
    const missed = await second.rest()
    expect(missed.map(({ data }) => data.statusUpdate.status.state)).toEqual([
      'TASK_STATE_WORKING',
      'TASK_STATE_COMPLETED',
    ])
    await using third = await subscribe(id, missed.at(-1)?.id)
    expect(await third.rest()).toEqual([])
  })

  test('ends on a finished task even if its last events are not sent on streams', async () => {
    const { id } = await newTask()
    await gateway.move(donna, id, 'completed')
    const headers = { 'A2A-Version': '1.0' }
    const config = { url: 'http://127.0.0.1:9/' }
    const path = `/agents/donna/tasks/${id}/pushNotificationConfigs`
    expect((await gateway.call('POST', path, config, { key: lucy.key, headers })).status).toBe(201)
    await using stream = await subscribe(id, '1')
    expect((await stream.rest()).at(-1)?.data.statusUpdate.status.state).toBe('TASK_STATE_COMPLETED')
    const { body } = await gateway.call('GET', '/v1/events?since=0&limit=1000')
    const created = body.events.findLast(({ type }: { type: string }) => type === 'push_config.created')
    await using again = await subscribe(id, String(created.logId - 1))
    expect(await again.rest()).toEqual([])
  })

  test.each(['999999999', 'abc', '-1'])(
    'starts with the task for a Last-Event-ID of another log: %s',
    async (lastEventId) => {
      const { id } = await newTask()
      await using stream = await subscribe(id, lastEventId)
      expect((await stream.next())?.data.task.id).toBe(id)
    },
  )
})

test.each(currentHttp)('SSE of v1.0 over $binding is served as a stream that nobody buffers', async ({ binding }) => {
  const { id } = await newTask()
  const rpc = { jsonrpc: '2.0', id: 'mine', method: 'SubscribeToTask', params: { id } }
  const isRpc = binding === 'JSONRPC'
  await using stream = await openEvents(`${gateway.url}/agents/donna${isRpc ? '' : `/tasks/${id}:subscribe`}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${lucy.key}`, 'A2A-Version': '1.0', 'content-type': 'application/json' },
    ...(isRpc ? { body: JSON.stringify(rpc) } : {}),
  })
  expect(stream.response.headers.get('content-type')).toContain('text/event-stream')
  expect(stream.response.headers.get('cache-control')).toContain('no-cache')
  const event = await stream.next()
  expect(isRpc ? event?.data : { result: event?.data }).toMatchObject({
    ...(isRpc ? { jsonrpc: '2.0', id: 'mine' } : {}),
    result: { task: { id } },
  })
  expect(event?.id).toMatch(/^\d+$/)
})
