// The story of a peer and a harness at two gateways behind a proxy, one of which dies: run by deploy/try.mjs.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { createInterface } from 'node:readline'
import { SendMessageRequest, TaskState } from '@a2a-js/sdk'
import { ClientFactory, createAuthenticatingFetchWithRetry, JsonRpcTransportFactory } from '@a2a-js/sdk/client'
import { GrpcTransportFactory } from '@a2a-js/sdk/client/grpc'
import { WebSocket } from 'ws'

const { ROUSE_URL: url, ROUSE_ADMIN_KEY: adminKey, HARNESS_ADDRESS: address } = process.env
const orders = createInterface({ input: process.stdin })[Symbol.asyncIterator]()
const say = (text) => console.log(text)

const { agent, apiKey } = await rest('POST', '/v1/agents', { handle: 'donna' }, adminKey)
const wakes = await startHarness(apiKey)
const client = await connect('JSONRPC')
const byGrpc = await connect('GRPC')
say(`agent ${agent.handle} registered, subscribed and found by the SDK through the proxy`)

const first = await client.sendMessage(asking('work'))
assert.equal(stateOf(first), 'COMPLETED')
assert.equal(stateOf(await byGrpc.getTask({ tenant: '', id: first.id })), 'COMPLETED')
say('a blocking SendMessage was answered, and the task is read over gRPC')

await wakeOverWebSocket()
say('a wake came over a WebSocket, and its receipt went back')

// As many as reach both gateways; the harness works on none of them before one gateway is dead.
const texts = Array.from({ length: 8 }, (_, i) => `wait ${i}`)
const waiting = texts.map((text) =>
  client.sendMessage(asking(text), { serviceParameters: { 'Idempotency-Key': text } }),
)
await wakes.until(() => wakes.submitted.length === 1 + texts.length)
const before = wakes.submitted.length
console.log('KILL')
assert.equal((await orders.next()).value, 'killed')
for (const taskId of wakes.submitted.slice(1)) await work(taskId)
const answers = await Promise.all(waiting)
assert.deepEqual(
  answers.map(stateOf),
  texts.map(() => 'COMPLETED'),
)
assert.equal(new Set(answers.map(({ id }) => id)).size, texts.length)
const { tasks } = await rest('GET', '/v1/tasks?role=assignee', undefined, apiKey)
assert.equal(tasks.length, 1 + texts.length)
say(
  `${texts.length} blocking SendMessages were waiting when a gateway was killed: each was answered, none made a second task`,
)

const more = []
for (let i = 0; i < 20; i++) more.push(await client.sendMessage(asking('work')))
assert.deepEqual([...new Set(more.map(stateOf))], ['COMPLETED'])
assert.equal(stateOf(await byGrpc.getTask({ tenant: '', id: first.id })), 'COMPLETED')
await wakes.until(() => wakes.submitted.length === before + more.length)
assert.equal(wakes.unordered, 0)
say(`20 more went through the gateway that is left; ${wakes.seen.size} wakes in order, ${wakes.twice} of them twice`)
process.exit(0)

async function wakeOverWebSocket() {
  const { apiKey: key } = await rest('POST', '/v1/agents', { handle: 'mike' }, adminKey)
  const made = { trigger: 'SENT_TO_ME', harnessTarget: 'bridge-daemon' }
  const { subscriptionId } = await rest('POST', '/v1/wake-subscriptions', made, key)
  const query = new URLSearchParams({ subscription: subscriptionId, capabilities: 'spawn' })
  const headers = { authorization: `Bearer ${key}` }
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/v1/wake-stream?${query}`, { headers })
  await once(socket, 'open')
  const next = async () => JSON.parse(String((await once(socket, 'message'))[0]))
  const wake = next()
  await rest('POST', '/v1/messages', { to: '@mike', subject: 'Hello' }, adminKey)
  const { id: eventId } = await wake
  const answer = next()
  socket.send(JSON.stringify([{ eventId, step: 'delivered' }]))
  assert.deepEqual(JSON.parse((await answer).data), { receipts: [{ eventId, outcome: 'delivered' }] })
  socket.close()
}

function asking(text) {
  return SendMessageRequest.fromJSON({
    message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }] },
  })
}

function stateOf({ status }) {
  return TaskState[status.state].replace('TASK_STATE_', '')
}

async function startHarness(key) {
  let signingKey
  let changed = () => {}
  const harness = {
    seen: new Map(),
    submitted: [],
    twice: 0,
    unordered: 0,
    async until(isSo) {
      for (const end = Date.now() + 30_000; !isSo(); ) {
        assert.ok(Date.now() < end, `The harness waits in vain: ${this.submitted.length} tasks.`)
        await Promise.race([
          new Promise((resolve) => (changed = resolve)),
          new Promise((resolve) => setTimeout(resolve, 500)),
        ])
      }
    },
  }
  let lastLogId = 0
  const server = createServer(async (req, res) => {
    const chunks = []
    for await (const chunk of req) chunks.push(chunk)
    const body = Buffer.concat(chunks)
    assert.equal(req.headers['x-neo-wake-signature'], createHmac('sha256', signingKey).update(body).digest('hex'))
    res.writeHead(204).end()
    const { eventId, logId, payload } = JSON.parse(body)
    if (harness.seen.has(eventId)) return harness.twice++
    harness.seen.set(eventId, logId)
    if (logId < lastLogId) harness.unordered++
    lastLogId = logId
    if (payload.newState === 'Submitted') {
      harness.submitted.push(payload.taskId)
      const task = await rest('GET', `/v1/tasks/${payload.taskId}`, undefined, key)
      if (task.history[0].parts[0].text === 'work') await work(payload.taskId)
    }
    changed()
  })
  server.listen(0)
  await once(server, 'listening')
  const target = { url: `http://${address}:${server.address().port}/`, coalesceWindow: 0 }
  const subscription = { trigger: 'TASK_STATE_CHANGED', harnessTarget: 'a2a-webhook', harnessTargetMetadata: target }
  signingKey = (await rest('POST', '/v1/wake-subscriptions', subscription, key)).signingKey
  return harness
}

async function work(taskId) {
  for (const to of ['working', 'completed']) {
    const { version } = await rest('GET', `/v1/tasks/${taskId}`, undefined, apiKey)
    await rest('POST', `/v1/tasks/${taskId}/transitions`, { to, expectedVersion: version }, apiKey)
  }
}

function connect(binding) {
  const fetchImpl = createAuthenticatingFetchWithRetry(fetch, {
    headers: async () => ({ Authorization: `Bearer ${adminKey}` }),
    shouldRetryWithHeaders: async () => undefined,
  })
  const before = async (args) => {
    const serviceParameters = { ...args.options?.serviceParameters, authorization: `Bearer ${adminKey}` }
    args.options = { ...args.options, serviceParameters }
  }
  const transports = [binding === 'GRPC' ? new GrpcTransportFactory({}) : new JsonRpcTransportFactory({ fetchImpl })]
  const interceptors = binding === 'GRPC' ? [{ before, after: async () => {} }] : []
  return new ClientFactory({ transports, clientConfig: { interceptors } }).createFromUrl(`${url}/agents/donna/`)
}

async function rest(method, path, body, key) {
  const response = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  assert.ok(response.ok, `${method} ${path}: ${response.status} ${text}`)
  return JSON.parse(text)
}
