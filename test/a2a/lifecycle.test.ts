import { type IncomingMessage, request } from 'node:http'
import { expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { servedMs } from '../support/served-time.ts'
import { until } from '../support/until.ts'
import { atOnce, collect, connect, current, currentHttp, saying, sendForTask, stateOf, tell } from './connect.ts'
import { sending } from './wire.ts'

const stopMaxMs = 2_000

async function stopTime(gateway: TestGateway): Promise<number> {
  const startedAt = servedMs()
  await gateway.stop()
  return servedMs() - startedAt
}

/** A request on its own connection. Returns a function that disconnects: fetch would open the next connection at once. */
function post(
  gateway: TestGateway,
  below: string,
  body: unknown,
  onData: (data: string, response: IncomingMessage) => void = () => {},
): () => void {
  const headers = {
    authorization: `Bearer ${gateway.adminKey}`,
    'A2A-Version': '1.0',
    'content-type': 'application/json',
  }
  const outgoing = request(`${gateway.url}/agents/donna${below}`, { method: 'POST', agent: false, headers })
  outgoing.on('error', () => {})
  outgoing.once('response', (response) => {
    response.on('error', () => {})
    response.once('data', (data) => onData(String(data), response))
  })
  outgoing.end(body === undefined ? '' : JSON.stringify(body))
  return () => outgoing.destroy()
}

/** The first piece of a stream, then nothing of it any more. */
function startAndLeave(gateway: TestGateway, below: string, body: unknown): Promise<string> {
  return new Promise((resolve) => {
    const hangUp = post(gateway, below, body, (data) => {
      hangUp()
      resolve(data)
    })
  })
}

function untilTasks(gateway: TestGateway, count: number): Promise<number> {
  return until(
    async () => (await gateway.call('GET', '/v1/tasks')).body.totalSize as number,
    (total) => total === count,
  )
}

const waiting = { returnImmediately: false }

test.each(current)(
  'a blocking send over $binding whose task nobody works on returns the current task in time',
  async (dialect) => {
    await using gateway = await startGateway({ env: { ROUSE_BLOCKING_TIMEOUT: '1' } })
    const donna = await gateway.addAgent('donna')
    const client = await connect(gateway, donna, gateway.adminKey, dialect)
    const startedAt = performance.now()
    const task = await sendForTask(client, saying('hello'))
    expect(stateOf(task)).toBe('submitted')
    expect(performance.now() - startedAt).toBeGreaterThan(900)
  },
)

test('a stop ends open streams, and answers blocking sends with the current task', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const clients = await Promise.all(currentHttp.map((dialect) => connect(gateway, donna, gateway.adminKey, dialect)))
  const { id } = await sendForTask(clients[0]!, saying('hello', {}, atOnce))
  const streams = clients.flatMap((client) => [
    client.sendMessageStream(saying('hello')),
    client.resubscribeTask({ tenant: '', id }),
  ])
  for (const stream of streams) expect(tell((await stream.next()).value!)).toBe('task submitted')
  const blocked = sendForTask(clients[0]!, saying('wait'))
  await untilTasks(gateway, 4)

  const took = stopTime(gateway)
  for (const stream of streams) expect((await stream.next()).done).toBe(true)
  expect(stateOf(await blocked)).toBe('submitted')
  expect(await took).toBeLessThan(stopMaxMs)
})

test('a client that disconnects during a blocking send leaves no listener', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  for (let count = 0; count < 20; count += 1) {
    const hangUp = post(gateway, '', { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: sending({}, waiting) })
    await untilTasks(gateway, count + 1)
    hangUp()
  }
  const { body } = await gateway.call('GET', '/v1/tasks')
  expect((await gateway.move(donna, body.tasks[0].id, 'completed')).status).toBe(200)
  expect(await stopTime(gateway)).toBeLessThan(stopMaxMs)
})

test('a client that disconnects during a stream does not affect the task or other streams', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const { id } = await gateway.send('donna', 'hello')
  const rpc = { jsonrpc: '2.0', id: 1, method: 'SubscribeToTask', params: { id } }
  for (let count = 0; count < 20; count += 1) {
    expect(await startAndLeave(gateway, `/tasks/${id}:subscribe`, undefined)).toContain(id)
    expect(await startAndLeave(gateway, '', rpc)).toContain(id)
  }
  const client = await connect(gateway, donna, gateway.adminKey, current[0]!)
  const staying = client.resubscribeTask({ tenant: '', id })
  await staying.next()
  await gateway.move(donna, id, 'working')
  await gateway.move(donna, id, 'completed')
  expect(await collect(staying)).toEqual(['status working', 'status completed'])
  expect(await stopTime(gateway)).toBeLessThan(stopMaxMs)
})

test.each(['', 'rest'])('a reader that reads nothing delays neither the task nor a stop (%s)', async (kind) => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const { id } = await gateway.send('donna', 'hello')
  const rpc = { jsonrpc: '2.0', id: 1, method: 'SubscribeToTask', params: { id } }
  const [below, body] = kind === 'rest' ? [`/tasks/${id}:subscribe`, undefined] : ['', rpc]
  const hangUp = await new Promise<() => void>((resolve) => {
    const leave = post(gateway, below, body, (_data, response) => {
      response.pause()
      resolve(leave)
    })
  })
  for (let count = 0; count < 20; count += 1) {
    const artifact = { artifactId: `a${count}`, parts: [{ text: 'x'.repeat(500_000) }] }
    await gateway.call('POST', `/v1/tasks/${id}/artifacts`, { artifact }, { key: donna.key })
  }
  expect((await gateway.move(donna, id, 'completed')).status).toBe(200)
  hangUp()
  expect(await stopTime(gateway)).toBeLessThan(stopMaxMs)
})

test('tasks, configs and contexts outlive the gateway', async () => {
  const first = await startGateway()
  const donna = await first.addAgent('donna')
  const { id, contextId } = await first.send('donna', 'hello', { message: { contextId: 'trip' } })
  await first.stop()
  await using second = await startGateway({ dataDir: first.dataDir })
  const client = await connect(second, donna, second.adminKey, current[0]!)
  expect(await client.getTask({ tenant: '', id })).toMatchObject({ id, contextId })
})
