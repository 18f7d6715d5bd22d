import { createConnection } from 'node:net'
import { SendMessageRequest, type StreamResponse } from '@a2a-js/sdk'
import { type ClientReadableStream, type ServiceError, status } from '@grpc/grpc-js'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { GrpcCall } from '../../src/fronts/grpc/services.ts'
import { atOnce, collect, connect, dialects, saying, sendForTask, stateOf, tell } from '../a2a/connect.ts'
import { sending } from '../a2a/wire.ts'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { servedMs } from '../support/served-time.ts'
import { until } from '../support/until.ts'
import { bearer, rawClient } from './raw-client.ts'

const stopMaxMs = 2_000
const tenant = 'agents/donna'
const overGrpc = dialects.filter(({ binding }) => binding === 'GRPC')

let gateway: TestGateway
let client: ReturnType<typeof rawClient>
let donna: TestAgent

beforeEach(async () => {
  gateway = await startGateway()
  client = rawClient(gateway.grpcTarget)
  donna = await gateway.addAgent('donna')
})

afterEach(async () => {
  client[Symbol.dispose]()
  await gateway[Symbol.asyncDispose]()
})

function subscribe(id: string): ClientReadableStream<StreamResponse> {
  const stream = client.stream('subscribeToTask', { tenant, id }, bearer(gateway.adminKey))
  stream.on('error', () => {})
  return stream
}

/** Subscribes and reads the task. The events that follow are those after it: the metadata alone comes before the task is read. */
async function begin(id: string): Promise<AsyncIterableIterator<StreamResponse>> {
  const events = subscribe(id)[Symbol.asyncIterator]()
  const { value } = await events.next()
  expect(tell(value)).toBe('task submitted')
  return events
}

async function toArray(events: AsyncIterable<StreamResponse>): Promise<StreamResponse[]> {
  const all: StreamResponse[] = []
  for await (const event of events) all.push(event)
  return all
}

async function stopTime(): Promise<number> {
  const startedAt = servedMs()
  await gateway.stop()
  return servedMs() - startedAt
}

function untilTasks(count: number): Promise<number> {
  return until(
    async () => (await gateway.call('GET', '/v1/tasks')).body.totalSize as number,
    (total) => total === count,
  )
}

test.each(overGrpc)(
  'a stop ends v$version streams with UNAVAILABLE, because they are not complete, and answers blocking sends with the current task',
  async (dialect) => {
    const peer = await connect(gateway, donna, gateway.adminKey, dialect)
    const { id } = await sendForTask(peer, saying('hello', {}, atOnce))
    const streams = [peer.sendMessageStream(saying('hello')), peer.resubscribeTask({ tenant: '', id })]
    for (const stream of streams) expect(tell((await stream.next()).value!)).toBe('task submitted')
    const blocked = sendForTask(peer, saying('wait'))
    await untilTasks(3)

    const took = stopTime()
    for (const stream of streams) await expect(stream.next()).rejects.toMatchObject({ status: status.UNAVAILABLE })
    expect(stateOf(await blocked)).toBe('submitted')
    expect(await took).toBeLessThan(stopMaxMs)
    await expect(peer.getTask({ tenant: '', id })).rejects.toMatchObject({ status: status.UNAVAILABLE })
  },
)

test('a stop does not wait for clients that keep their connection, or have sent nothing on it', async () => {
  await client.unary('listTasks', { tenant }, bearer(gateway.adminKey))
  const silent = createConnection(Number(gateway.grpcTarget?.split(':')[1]), '127.0.0.1')
  await new Promise((resolve) => silent.once('connect', resolve))
  expect(await stopTime()).toBeLessThan(stopMaxMs)
  silent.destroy()
})

test('a deadline ends a blocking send, and with it the waiting', async () => {
  const request = SendMessageRequest.fromJSON({ tenant, ...sending({}, { returnImmediately: false }) })
  const sends = Array.from({ length: 20 }, () =>
    client.unary('sendMessage', request, bearer(gateway.adminKey), { deadline: Date.now() + 500 }),
  )
  for (const send of sends) expect(await send).toMatchObject({ code: status.DEADLINE_EXCEEDED })
  const { body } = await gateway.call('GET', '/v1/tasks')
  expect(body.totalSize).toBe(20)
  expect((await gateway.move(donna, body.tasks[0].id, 'completed')).status).toBe(200)
  expect(await stopTime()).toBeLessThan(stopMaxMs)
})

test('a client that cancels a stream leaves the task and other streams alone', async () => {
  const { id } = await gateway.send('donna', 'hello')
  for (let count = 0; count < 20; count += 1) {
    const leaving = subscribe(id)
    await new Promise((resolve) => leaving.once('data', resolve))
    leaving.cancel()
  }
  const staying = subscribe(id)
  const received: Promise<StreamResponse[]> = staying.toArray()
  await new Promise((resolve) => staying.once('metadata', resolve))
  await gateway.move(donna, id, 'working')
  await gateway.move(donna, id, 'completed')
  expect((await received).map(tell).at(-1)).toBe('status completed')
  expect(await stopTime()).toBeLessThan(stopMaxMs)
})

test('a reader that reads nothing delays neither the task nor a stop', async () => {
  const { id } = await gateway.send('donna', 'hello')
  const stream = subscribe(id)
  await new Promise((resolve) => stream.once('data', resolve))
  stream.pause()
  await addArtifacts(id, 20)
  expect((await gateway.move(donna, id, 'completed')).status).toBe(200)
  stream.cancel()
  expect(await stopTime()).toBeLessThan(stopMaxMs)
})

test('no events are loaded for a reader that reads nothing', async () => {
  const waited = vi.spyOn(GrpcCall.prototype, 'taken')
  const { id } = await gateway.send('donna', 'hello')
  const stalled = subscribe(id)
  await new Promise((resolve) => stalled.once('data', resolve))
  stalled.pause()
  const [call] = waited.mock.contexts
  const quick = await begin(id)
  const rest = toArray(quick)
  await addArtifacts(id, 60)
  await gateway.move(donna, id, 'completed')
  expect(await rest).toHaveLength(61)
  // The client's own buffer holds 16 events; then the gateway waits with one more event, and sends none.
  expect(waited.mock.contexts.filter((context) => context === call).length).toBeLessThan(25)
  waited.mockRestore()
  stalled.cancel()
})

test('a slow reader gets everything, in order', async () => {
  const { id } = await gateway.send('donna', 'hello')
  const events = await begin(id)
  await addArtifacts(id, 20)
  await gateway.move(donna, id, 'completed')
  const received: string[] = []
  for await (const event of events) {
    received.push(event.payload?.$case === 'artifactUpdate' ? event.payload.value.artifact!.artifactId : tell(event))
    await new Promise((resolve) => setImmediate(resolve))
  }
  const artifacts = Array.from({ length: 20 }, (_, index) => `a${index}`)
  expect(received).toEqual([...artifacts, 'status completed'])
})

test.each(overGrpc)(
  'a stream of v$version shows the progress of a task over REST, also to a peer of another binding',
  async (dialect) => {
    const peer = await connect(gateway, donna, gateway.adminKey, dialect)
    const http = await connect(gateway, donna, gateway.adminKey, { version: dialect.version, binding: 'JSONRPC' })
    const stream = peer.sendMessageStream(saying('hello'))
    const first = (await stream.next()).value?.payload
    const id = first?.$case === 'task' ? first.value.id : ''
    const other = http.resubscribeTask({ tenant: '', id })
    await other.next()
    const states = ['working', 'auth-required', 'working', 'completed']
    for (const state of states) expect((await gateway.move(donna, id, state)).status).toBe(200)
    const expected = states.map((state) => `status ${state}`)
    expect([await collect(stream), await collect(other)]).toEqual([expected, expected])
  },
)

test('a stream that cannot begin is refused with the reason', async () => {
  const stream = client.stream('subscribeToTask', { tenant, id: 'nope' }, bearer(gateway.adminKey))
  const error = await stream.toArray().then(
    () => undefined,
    (failure: ServiceError) => failure,
  )
  expect(error).toMatchObject({ code: status.NOT_FOUND, details: expect.stringMatching(/no task nope/i) })
})

async function addArtifacts(taskId: string, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    const artifact = { artifactId: `a${index}`, parts: [{ text: 'x'.repeat(300_000) }] }
    await gateway.call('POST', `/v1/tasks/${taskId}/artifacts`, { artifact }, { key: donna.key })
  }
}
