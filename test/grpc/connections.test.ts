import { connect as connectHttp2 } from 'node:http2'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { connectRaw } from '../support/raw-connection.ts'
import { servedMs } from '../support/served-time.ts'
import { until } from '../support/until.ts'
import { bearer, rawClient } from './raw-client.ts'

/** Short bounds, so that no test waits for the seconds of the table. */
const bounds = { grpcCalls: 3 }
/** With this one a busy machine may read a key too late: only the tests of this deadline have it. */
const headers = 0.4
let patient: TestGateway
let worker: TestAgent
let gateway: TestGateway
let donna: TestAgent

beforeAll(async () => {
  patient = await startGateway({ overrides: { connectionBounds: bounds } })
  worker = await patient.addAgent('donna')
  gateway = await startGateway({ overrides: { connectionBounds: { ...bounds, headers } } })
  donna = await gateway.addAgent('donna')
})

afterAll(async () => {
  await patient[Symbol.asyncDispose]()
  await gateway[Symbol.asyncDispose]()
})

const target = (of = gateway) => `http://${of.grpcTarget}`

/** Opens a stream of a task. Undefined: the connection was ended before the gateway had read the key. */
async function openStream(of: TestGateway, client: ReturnType<typeof rawClient>, id: string) {
  const stream = client.stream('subscribeToTask', { tenant: 'agents/donna', id }, bearer(of.adminKey))
  const isOpen = await new Promise((resolve) => {
    stream.once('metadata', () => resolve(true)).on('error', () => resolve(false))
  })
  return isOpen ? stream : undefined
}

/** An HTTP/2 connection that answers pings, and the promise of its end. */
function session(of = gateway) {
  const client = connectHttp2(target(of))
  client.on('error', () => {})
  const openedAt = servedMs()
  const closed = new Promise<number>((done) => client.once('close', () => done((servedMs() - openedAt) / 1000)))
  return { client, closed, [Symbol.dispose]: () => client.destroy() }
}

test('a silent connection is closed', async () => {
  using silent = await connectRaw(target())
  expect(await silent.closed).toBeLessThan(5)
})

test('one that answers pings and calls without a key is ended too', async () => {
  using pinging = session()
  using calling = session()
  const pings = setInterval(() => pinging.client.closed || pinging.client.ping(() => {}), 50)
  const path = '/lf.a2a.v1.A2AService/GetTask'
  const calls = setInterval(() => {
    if (calling.client.closed) return
    const headers = { ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers' }
    calling.client
      .request(headers)
      .on('error', () => {})
      .end()
  }, 50)
  expect(await pinging.closed).toBeLessThan(5)
  expect(await calling.closed).toBeLessThan(5)
  clearInterval(pings)
  clearInterval(calls)
})

test('one that has shown a key stays while a stream is open on it, and is ended when it is idle', async () => {
  const { id } = await gateway.send('donna', 'long work')
  using client = rawClient(gateway.grpcTarget)
  const stream = await until(
    () => openStream(gateway, client, id),
    (opened) => opened !== undefined,
  )
  const events: unknown[] = []
  stream!.on('data', (event) => events.push(event))
  // Longer than both deadlines.
  using measure = session()
  await measure.closed
  using another = session()
  await another.closed
  using third = session()
  await third.closed
  const before = events.length
  await gateway.move(donna, id, 'working')
  await until(
    () => events.length,
    (count) => count > before,
  )
  stream!.cancel()
  // After the idle time the client connects again.
  const request = { tenant: 'agents/donna', id }
  const answer = await until(
    () => client.unary('getTask', request, bearer(gateway.adminKey)),
    (result) => 'value' in result,
  )
  expect(answer).toMatchObject({ value: { id } })
})

test('a connection has a limit of calls, and the next call waits', async () => {
  const { id } = await patient.send('donna', 'long work')
  using limited = session(patient)
  const open = { tenant: 'agents/donna', id }
  const settings = await new Promise<{ maxConcurrentStreams?: number }>((resolve) =>
    limited.client.once('remoteSettings', resolve),
  )
  expect(settings.maxConcurrentStreams).toBe(3)
  using client = rawClient(patient.grpcTarget)
  const streams = await Promise.all([1, 2, 3].map(() => openStream(patient, client, id)))
  const waiting = client.unary('getTask', open, bearer(patient.adminKey))
  // Not by a cancellation: newer versions of Node refuse a call that comes in one piece with it.
  await patient.move(worker, id, 'working')
  await patient.move(worker, id, 'completed')
  expect(await waiting).toMatchObject({ value: { id } })
  for (const stream of streams) stream?.cancel()
})

test('metadata above 64 KiB ends only its call', async () => {
  using client = rawClient(patient.grpcTarget)
  const large = bearer(patient.adminKey, { 'x-large': 'x'.repeat(100_000) })
  expect(await client.unary('getTask', { tenant: 'agents/donna', id: 'a' }, large)).toMatchObject({
    code: expect.any(Number),
  })
  using other = rawClient(patient.grpcTarget)
  const { id } = await patient.send('donna', 'hello')
  expect(await other.unary('getTask', { tenant: 'agents/donna', id }, bearer(patient.adminKey))).toMatchObject({
    value: { id },
  })
})
