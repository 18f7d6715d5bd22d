import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { SubscribeToTaskRequest } from '@a2a-js/sdk'
import { status } from '@grpc/grpc-js'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type AnswerReader, UnreadAnswers } from '../../src/admission/unread-answers.ts'
import { bearer, rawClient, refusalOf } from '../grpc/raw-client.ts'
import { liftRates, startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { onPostgres } from '../support/store.ts'
import { until } from '../support/until.ts'

const MB = 1_000_000
const artifactBytes = 0.9 * MB
/** More than the buffers of a connection take. */
const artifacts = 20
const readers = 5
const grpcReaders = 4
/** Every reader may open its stream and load an event, and a few large answers are too many. */
const bytesMax = 8 * MB
const loadingMax = 4
const stallSeconds = 1
/** The client's own buffer takes 16 events, whatever their size. */
const eventBytes = 300_000

/** Counts what waits for all readers together. */
class Counted extends UnreadAnswers {
  bytes = 0
  most = 0

  override add(reader: AnswerReader, bytes: number): () => void {
    const taken = super.add(reader, bytes)
    this.bytes += bytes
    this.most = Math.max(this.most, this.bytes)
    let left = bytes
    return () => {
      this.bytes -= left
      left = 0
      taken()
    }
  }
}

const unsent = new Counted(bytesMax)
let gateway: TestGateway
let donna: TestAgent
let mallory: TestAgent
let bob: TestAgent
let taskId: string

interface World {
  readonly gateway: TestGateway
  readonly donna: TestAgent
  readonly mallory: TestAgent
  readonly bob: TestAgent
  readonly taskId: string
}

/** A gateway with one large task. `stallSeconds`: how long a reader may read nothing. */
async function openWorld(stallSeconds: number, counted: UnreadAnswers, bodyMax = MB): Promise<World> {
  const overrides = { connectionBounds: { readerStall: stallSeconds }, unread: counted }
  const gateway = await startGateway({ env: { ROUSE_BODY_MAX: `${bodyMax}` }, overrides })
  await liftRates(gateway)
  const [donna, mallory, bob] = [
    await gateway.addAgent('donna'),
    await gateway.addAgent('mallory'),
    await gateway.addAgent('bob'),
  ]
  const { id: taskId } = await gateway.send('donna', 'make a lot', { key: mallory.key })
  for (let index = 0; index < artifacts; index += 1) {
    const artifact = { artifactId: `a${index}`, parts: [{ text: 'x'.repeat(artifactBytes) }] }
    const made = await gateway.call('POST', `/v1/tasks/${taskId}/artifacts`, { artifact }, { key: donna.key })
    expect(made.status).toBe(201)
  }
  return { gateway, donna, mallory, bob, taskId }
}

beforeAll(async () => {
  ;({ gateway, donna, mallory, bob, taskId } = await openWorld(stallSeconds, unsent))
})

afterAll(() => gateway[Symbol.asyncDispose]())

const opened: ClientRequest[] = []
afterEach(() => {
  for (const req of opened.splice(0)) req.destroy()
})

interface Unread {
  readonly req: ClientRequest
  readonly res: IncomingMessage
}

/** A request whose answer is not read: the buffers of the sockets fill, then the gateway must hold the rest. */
function openUnread(
  method: string,
  path: string,
  body?: object,
  headers: Record<string, string> = {},
  from: Pick<World, 'gateway' | 'mallory'> = { gateway, mallory },
): Promise<Unread> {
  return new Promise((resolve, reject) => {
    const req = request(from.gateway.url + path, {
      method,
      agent: false,
      headers: {
        authorization: `Bearer ${from.mallory.key}`,
        'A2A-Version': '1.0',
        ...(body ? { 'content-type': 'application/json' } : {}),
        ...headers,
      },
    })
    let hasAnswer = false
    req.on('error', (error: NodeJS.ErrnoException) => {
      // On a busy machine a connection may seem idle before its request was read: it is opened again.
      if (error.code !== 'ECONNRESET' || hasAnswer) return reject(error)
      resolve(openUnread(method, path, body, headers, from))
    })
    opened.push(req)
    req.on('response', (res) => {
      hasAnswer = true
      res.on('error', () => {})
      res.pause()
      resolve({ req, res })
    })
    req.end(body && JSON.stringify(body))
  })
}

const afterFirst = { 'last-event-id': '1' }
const streams = [
  {
    name: 'JSON-RPC',
    open: () => openUnread('POST', '/agents/donna', rpc('SubscribeToTask', { id: taskId }), afterFirst),
  },
  {
    name: 'HTTP+JSON',
    open: () => openUnread('POST', `/agents/donna/tasks/${taskId}:subscribe`, undefined, afterFirst),
  },
  {
    name: 'HTTP+JSON of v0.3',
    open: () =>
      openUnread('POST', `/agents/donna/v1/tasks/${taskId}:subscribe`, undefined, {
        ...afterFirst,
        'A2A-Version': '0.3',
      }),
  },
]

function rpc(method: string, params: object) {
  return { jsonrpc: '2.0', id: 1, method, params }
}

/** Runs `act`, and waits until there were unread bytes, and none are left. Returns their largest number. */
async function mostUnsent(act: () => Promise<unknown>): Promise<number> {
  unsent.most = 0
  await act()
  await until(
    () => unsent.bytes,
    (bytes) => bytes === 0 && unsent.most > 0,
  )
  return unsent.most
}

// Over each binding the events come from the store in the same way. The rest of this file is about what was read from there.
describe.each(onPostgres ? streams.slice(0, 1) : streams)('streams over $name that nobody reads', ({ open }) => {
  test('cost the gateway a few events, and are cut off', async () => {
    const most = await mostUnsent(async () => {
      const unread = await Promise.all(Array.from({ length: readers }, open))
      expect(unread.map(({ res }) => res.statusCode)).toEqual(new Array(readers).fill(200))
      const health = await gateway.call('GET', '/v1/tasks', undefined, { key: bob.key })
      expect(health.status).toBe(200)
    })
    expect(most).toBeGreaterThan(artifactBytes)
    // Of each stream one event, and no more than the key may leave unread.
    expect(most).toBeLessThan(bytesMax + (loadingMax + 1) * artifactBytes)
  })

  test('send a slow reader every event, in order', async () => {
    const { res } = await open()
    const found: string[] = []
    let tail = ''
    // Longer than the reader needs to empty its buffers, and shorter than the deadline.
    for await (const chunk of res) {
      const text = tail + (chunk as Buffer).toString('latin1')
      for (const [, id] of text.matchAll(/"artifactId":"(a\d+)"/g)) found.push(id!)
      tail = text.slice(-40).replace(/"artifactId":"(a\d+)"/g, '')
      await new Promise(setImmediate)
      if (found.length === artifacts) break
    }
    expect(found).toEqual(Array.from({ length: artifacts }, (_, index) => `a${index}`))
  })
})

test.skipIf(onPostgres)('a key with too many unread answers is refused more; other keys are not', async () => {
  // Even on a slow machine, no reader is cut off before the last answer was requested.
  const world = await openWorld(300, new UnreadAnswers(bytesMax), 4 * MB)
  const { gateway, mallory, bob, taskId } = world
  await using _ = gateway
  const read = () => openUnread('GET', `/v1/tasks/${taskId}`, undefined, {}, world)
  const unread = await Promise.all(Array.from({ length: readers }, read))
  const statuses = unread.map(({ res }) => res.statusCode)
  expect(statuses.filter((code) => code === 200).length).toBeLessThan(readers)
  expect(statuses.filter((code) => code === 429).length).toBeGreaterThan(0)
  const again = await gateway.call('GET', `/v1/tasks/${taskId}`, undefined, { key: mallory.key })
  expect(again).toMatchObject({ status: 429, body: { code: 'limit-exceeded', limit: 'unreadBytes' } })
  expect(again.headers.get('retry-after')).toBe('1')
  const overA2a = await gateway.call('GET', `/agents/donna/tasks/${taskId}`, undefined, {
    key: mallory.key,
    headers: { 'A2A-Version': '1.0' },
  })
  expect(overA2a).toMatchObject({ status: 429, body: { error: { status: 'RESOURCE_EXHAUSTED' } } })
  using client = rawClient(gateway.grpcTarget)
  const overGrpc = await client.unary('getTask', { tenant: 'agents/donna', id: taskId }, bearer(mallory.key))
  expect(overGrpc).toMatchObject({ code: status.RESOURCE_EXHAUSTED, reason: 'LIMIT_EXCEEDED' })
  expect((await gateway.call('GET', '/v1/tasks', undefined, { key: bob.key })).status).toBe(200)
  for (const { req } of unread) req.destroy()
  const { status: later } = await until(
    () => gateway.call('GET', `/v1/tasks/${taskId}`, undefined, { key: mallory.key }),
    ({ status }) => status !== 429,
  )
  expect(later).toBe(200)
})

test.skipIf(onPostgres)('a second key of the agent is refused too, though it has read everything', async () => {
  const world = await openWorld(300, new UnreadAnswers(2 * MB), 4 * MB)
  const { gateway, mallory, bob, taskId } = world
  await using _ = gateway
  const second = await gateway.call('POST', '/v1/agents/mallory/keys', {})
  expect(second.status).toBe(201)
  const { res } = await openUnread('GET', `/v1/tasks/${taskId}`, undefined, {}, world)
  expect(res.statusCode).toBe(200)
  const read = (key: string) => gateway.call('GET', '/v1/tasks', undefined, { key })
  expect(await read(second.body.apiKey)).toMatchObject({ status: 429, body: { limit: 'unreadBytes' } })
  expect((await read(mallory.key)).status).toBe(429)
  expect((await read(bob.key)).status).toBe(200)
})

test.skipIf(onPostgres)('streams over gRPC that nobody reads are cut off, but not their connection', async () => {
  using client = rawClient(gateway.grpcTarget)
  const { id } = await gateway.send('donna', 'make a lot', { key: mallory.key })
  const wanted = SubscribeToTaskRequest.fromJSON({ tenant: 'agents/donna', id })
  const most = await mostUnsent(async () => {
    const unread = Array.from({ length: grpcReaders }, () =>
      client.stream('subscribeToTask', wanted, bearer(mallory.key)),
    )
    const failures = unread.map(
      (stream) => new Promise((resolve) => stream.on('error', (error) => resolve(refusalOf(error as never)))),
    )
    await Promise.all(unread.map((stream) => new Promise((resolve) => stream.once('data', resolve))))
    for (const stream of unread) stream.pause()
    for (let index = 0; index < 25; index += 1) {
      const artifact = { artifactId: `a${index}`, parts: [{ text: 'x'.repeat(eventBytes) }] }
      await gateway.call('POST', `/v1/tasks/${id}/artifacts`, { artifact }, { key: donna.key })
    }
    await until(
      () => unsent.bytes,
      (bytes) => bytes === 0,
    )
    for (const stream of unread) stream.resume()
    for (const failure of failures) expect(await failure).toMatchObject({ code: status.CANCELLED })
  })
  expect(most).toBeGreaterThan(eventBytes)
  // One event of each stream.
  expect(most).toBeLessThan(1.1 * grpcReaders * eventBytes)
  expect(await client.unary('getTask', { tenant: 'agents/donna', id, historyLength: 0 }, bearer(bob.key))).toBeDefined()
})
