import { once } from 'node:events'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { Unsent } from '../../src/fronts/unsent.ts'
import { bearer, rawClient } from '../grpc/raw-client.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { type Answer, liftRates, startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { until } from '../support/until.ts'
import { callTool } from './mcp/http/call-tool.ts'

/** Two answers with the task are as much as one agent may have in memory; a third one is more. */
const artifacts = 6
const artifactBytes = 3_900_000

let gateway: TestGateway
let mallory: TestAgent
let taskId: string
const clock = new FakeClock()

beforeAll(async () => {
  // What nobody reads is not refused here.
  const unsent = new Unsent({ bytesMax: 1e9, loadingMax: 4 })
  gateway = await startGateway({ overrides: { clock, unsent, connectionBounds: { readerStall: 300 } } })
  await liftRates(gateway)
  mallory = await gateway.addAgent('mallory')
  taskId = await makeLargeTask()
})

async function makeLargeTask(): Promise<string> {
  const { id } = await gateway.send('mallory', 'make a lot')
  for (let index = 0; index < artifacts; index += 1) {
    const artifact = { artifactId: `a${index}`, parts: [{ text: 'x'.repeat(artifactBytes) }] }
    const made = await gateway.call('POST', `/v1/tasks/${id}/artifacts`, { artifact }, mallory)
    expect(made.status).toBe(201)
  }
  return id
}

afterAll(() => gateway[Symbol.asyncDispose]())

const opened: ClientRequest[] = []
afterEach(async () => {
  for (const req of opened.splice(0)) req.destroy()
  await readWhole(mallory.key)
})

interface Unread {
  readonly req: ClientRequest
  readonly answer: Promise<IncomingMessage>
}

/** A request whose answer is not read. */
function openUnread(key: string, method = 'GET', path = `/v1/tasks/${taskId}`): Unread {
  const headers = { authorization: `Bearer ${key}`, 'A2A-Version': '1.0' }
  const req = request(gateway.url + path, { method, agent: false, headers })
  req.on('error', () => {})
  opened.push(req)
  const answer = once(req.end(), 'response').then(([res]) => {
    res.on('error', () => {})
    return res as IncomingMessage
  })
  answer.catch(() => {})
  return { req, answer }
}

const readWhole = async (key: string) => {
  const { status } = await gateway.call('GET', `/v1/tasks/${taskId}`, undefined, { key })
  expect(status).toBe(200)
}

test.each(['agent', 'operator'])(
  'an %s who is alone has few large answers in memory; more wait, and are refused',
  async (who) => {
    const key = who === 'agent' ? mallory.key : gateway.adminKey
    const unread = [openUnread(key), openUnread(key)]
    for (const { answer } of unread) expect((await answer).statusCode).toBe(200)
    const refused = await afterWaits(() => gateway.call('GET', `/v1/tasks/${taskId}`, undefined, { key }))
    expect(refused).toMatchObject({ status: 429, body: { code: 'rate-limited', limitName: 'contentAtOnce' } })
    // What is small does not wait, and neither do others.
    expect((await gateway.call('GET', '/v1/tasks', undefined, { key })).status).toBe(200)
    await readWhole(who === 'agent' ? gateway.adminKey : mallory.key)
  },
)

test('a client that goes away leaves its place to the next one', async () => {
  const unread = [openUnread(mallory.key), openUnread(mallory.key)]
  for (const { answer } of unread) await answer
  const waiting = [openUnread(mallory.key), openUnread(mallory.key), openUnread(mallory.key)]
  const next = gateway.call('GET', `/v1/tasks/${taskId}`, undefined, mallory)
  for (const { req } of [...unread, ...waiting]) req.destroy()
  expect((await next).status).toBe(200)
})

test('answers that were read, or that their client refuses, take no place: over HTTP and over gRPC', async () => {
  using client = rawClient(gateway.grpcTarget)
  for (let n = 0; n < 4; n++) {
    await readWhole(mallory.key)
    // Larger than this client accepts.
    await client.unary('getTask', { tenant: 'agents/mallory', id: taskId }, bearer(mallory.key))
  }
  const deadline = Date.now() + 50
  const late = { tenant: 'agents/mallory', id: taskId }
  const calls = Array.from({ length: 6 }, () => client.unary('getTask', late, bearer(mallory.key), { deadline }))
  await Promise.all(calls)
  await readWhole(mallory.key)
})

test('a stream that has begun with a large task takes no place while it is open', async () => {
  for (let n = 0; n < 4; n++) {
    const stream = openUnread(mallory.key, 'POST', `/agents/mallory/tasks/${taskId}:subscribe`)
    const res = await stream.answer
    expect(res.statusCode).toBe(200)
    let bytes = 0
    for await (const chunk of res.iterator({ destroyOnReturn: false })) {
      bytes += (chunk as Buffer).length
      if (bytes > artifacts * artifactBytes) break
    }
  }
  await readWhole(mallory.key)
})

test('the answer to a write leaves content out where the caller has too much in memory, and the write is done', async () => {
  const id = await makeLargeTask()
  const move = (to: string, expectedVersion: number) =>
    gateway.call('POST', `/v1/tasks/${id}/transitions`, { to, expectedVersion })
  const rpc = async (method: string, params: object) => {
    const call = { jsonrpc: '2.0', id: 1, method, params }
    const { body } = await gateway.call('POST', '/agents/mallory', call, { headers: { 'A2A-Version': '1.0' } })
    return body.result
  }
  const message = { messageId: 'm2', taskId: id, role: 'ROLE_USER', parts: [{ text: 'more' }] }
  const configuration = { returnImmediately: true }
  // One call at a time is answered as a whole.
  const alone = await move('working', 1)
  expect([alone.status, alone.body.artifacts.length, alone.body.omitted]).toEqual([200, artifacts, undefined])

  const unread = [openUnread(gateway.adminKey), openUnread(gateway.adminKey)]
  for (const { answer } of unread) expect((await answer).statusCode).toBe(200)
  const omitted = { messages: expect.any(Number), artifactPieces: artifacts }
  expect(await afterWaits(() => move('input-required', 2))).toMatchObject({
    status: 200,
    body: { artifacts: [], omitted },
  })
  const conflict = { code: 'version-conflict', current: { version: 3, artifacts: [], omitted } }
  expect(await afterWaits(() => move('working', 2))).toMatchObject({ status: 409, body: conflict })
  const left = { metadata: { omitted } }
  expect(await afterWaits(() => rpc('SendMessage', { message, configuration }))).toMatchObject({ task: left })
  expect(await afterWaits(() => rpc('CancelTask', { id }))).toMatchObject(left)

  for (const { req } of unread) req.destroy()
  const { body } = await gateway.call('GET', `/v1/tasks/${id}`)
  expect([body.status.state, body.messageCount, body.artifacts.length]).toEqual(['canceled', 2, artifacts])
})

test('a page of tasks that are small each counts as a whole, over REST and over A2A', async () => {
  const eve = await gateway.addAgent('eve')
  // Each is just below the size of a task that counts by itself.
  for (let n = 0; n < 26; n++) await gateway.send('eve', 'x'.repeat(1_000_000))
  const page = '/v1/tasks?includeArtifacts=true'
  const unread = [openUnread(eve.key, 'GET', page), openUnread(eve.key, 'GET', '/agents/eve/tasks')]
  for (const { answer } of unread) expect((await answer).statusCode).toBe(200)
  const refused = await afterWaits(() => gateway.call('GET', page, undefined, eve))
  expect(refused).toMatchObject({ status: 429, body: { code: 'rate-limited', limitName: 'contentAtOnce' } })
  // What the newest messages of a page leave out does not count.
  expect((await gateway.call('GET', '/v1/tasks?historyLength=0', undefined, eve)).body.tasks).toHaveLength(26)
  for (const { req } of unread) req.destroy()
  expect((await gateway.call('GET', page, undefined, eve)).body.tasks).toHaveLength(26)
})

test('a blocking send whose answer is a large message gets its task without content where there is no room', async () => {
  const message = { messageId: 'm3', role: 'ROLE_USER', parts: [{ text: 'wait for it' }] }
  const headers = { 'A2A-Version': '1.0' }
  const ask = () => gateway.call('POST', '/agents/mallory/message:send', { message }, { headers })
  const answered = async (answering: Promise<Answer>) => {
    const id = await until(
      async () => (await gateway.call('GET', '/v1/tasks?state=submitted', undefined, mallory)).body.tasks[0]?.id,
      (open) => open !== undefined && open !== taskId,
    )
    const said = { messageId: 'm4', role: 'ROLE_AGENT', parts: [{ text: 'x'.repeat(artifactBytes) }] }
    const move = { to: 'completed', answerAs: 'message', message: said, expectedVersion: 1 }
    expect((await gateway.call('POST', `/v1/tasks/${id}/transitions`, move, mallory)).status).toBe(200)
    return { id, body: (await afterWaits(() => answering)).body }
  }
  expect((await answered(ask())).body.message.parts[0].text).toHaveLength(artifactBytes)

  // Three unread answers leave less room than the message needs.
  const paths = [...Array(2).fill(`/v1/tasks/${taskId}`), `/v1/tasks/${taskId}/artifacts?limit=5`]
  const unread = paths.map((path) => openUnread(gateway.adminKey, 'GET', path))
  for (const { answer } of unread) expect((await answer).statusCode).toBe(200)
  message.messageId = 'm5'
  const { id, body } = await answered(ask())
  expect(body.task).toMatchObject({ id, metadata: { omitted: { messages: 2, artifactPieces: 0 } } })
  expect(body.task.history).toBeUndefined()
})

test('a message over MCP to a large task answers with no more of the task than MCP carries', async () => {
  const unread = [openUnread(gateway.adminKey), openUnread(gateway.adminKey)]
  for (const { answer } of unread) expect((await answer).statusCode).toBe(200)
  // No time passes: what waits for room stays open. There is room for what MCP carries, not for the whole task.
  const sent = await callTool(gateway, gateway.adminKey, 'send_task', { to: '@mallory', text: 'more', taskId })
  expect(JSON.parse(sent.text)[0]).toMatchObject({ taskId, task: { id: taskId } })
})

/** Lets the time pass until a call is answered. */
async function afterWaits<T>(act: () => Promise<T>): Promise<T> {
  let answer: T | undefined
  void act().then((given) => (answer = given))
  return (await until(
    () => {
      clock.advance(1_000)
      return answer
    },
    (given) => given !== undefined,
  ))!
}
