import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { saying } from './connect.ts'

/** The clients of a released SDK, as they are. */
// biome-ignore lint/suspicious/noExplicitAny: each release has types of its own
const sdk = (version: string): Promise<any> => import(`a2a-sdk-${version}/client`)
const [v025, v030, v0314, v101] = await Promise.all(['0.2.5', '0.3.0', '0.3.14', '1.0.1'].map(sdk))

let gateway: TestGateway
let donna: TestAgent
let lucy: TestAgent

beforeAll(async () => {
  gateway = await startGateway()
  donna = await gateway.addAgent('donna')
  lucy = await gateway.addAgent('lucy')
})

afterAll(() => gateway[Symbol.asyncDispose]())

const address = () => `${gateway.url}/agents/donna`
const cardUrl = (file = 'agent-card.json') => `${address()}/.well-known/${file}`

/** The first releases take neither a key nor a fetch: the key is added to the global one, as their users do it. */
beforeAll(() => {
  const { fetch } = globalThis
  vi.stubGlobal('fetch', (input: string, init?: RequestInit) =>
    fetch(input, { ...init, headers: { ...init?.headers, Authorization: `Bearer ${lucy.key}` } }),
  )
  return () => vi.unstubAllGlobals()
})

const message = () => ({
  kind: 'message' as const,
  messageId: crypto.randomUUID(),
  role: 'user' as const,
  parts: [{ kind: 'text' as const, text: 'hello' }],
})

/** Made as users of each release make them. */
// biome-ignore lint/suspicious/noExplicitAny: as above
const clients: Record<string, () => any> = {
  '0.2.5': () => new v025.A2AClient(address()),
  '0.3.0': () => new v030.A2AClient(address()),
  '0.3.0, of the new path': () => new v030.A2AClient(address(), '.well-known/agent-card.json'),
  '0.3.14': () => v0314.A2AClient.fromCardUrl(cardUrl()),
  '0.3.14, of the old path': () => v0314.A2AClient.fromCardUrl(cardUrl('agent.json')),
}

describe.each(Object.entries(clients))('the client of SDK %s, as it is', (_name, create) => {
  test('finds the agent from its address, sends, reads and cancels', async () => {
    const client = await create()
    const task = resultOf(await client.sendMessage({ message: message() }))
    expect(task).toMatchObject({ kind: 'task', status: { state: 'submitted' }, history: [{ role: 'user' }] })
    expect(resultOf(await client.getTask({ id: task.id }))).toMatchObject({ id: task.id })
    expect(resultOf(await client.cancelTask({ id: task.id }))).toMatchObject({ status: { state: 'canceled' } })
  })

  test('streams, and subscribes again', async () => {
    const client = await create()
    const events: unknown[] = []
    for await (const event of client.sendMessageStream({ message: message() })) {
      events.push(event.kind === 'status-update' ? event.status.state : event.kind)
      if (event.kind !== 'task') continue
      await move(event.id, 'working')
      for await (const again of client.resubscribeTask({ id: event.id })) {
        if (again.kind === 'task') await move(event.id, 'completed')
        else events.push(again.kind)
      }
    }
    expect(events).toEqual(['task', 'status-update', 'working', 'completed'])
  })

  test('registers push notifications and reads them', async () => {
    const client = await create()
    const { id } = resultOf(await client.sendMessage({ message: message() }))
    const pushNotificationConfig = { id: 'mine', url: 'http://127.0.0.1:9/hook' }
    resultOf(await client.setTaskPushNotificationConfig({ taskId: id, pushNotificationConfig }))
    expect(resultOf(await client.getTaskPushNotificationConfig({ id }))).toMatchObject({
      taskId: id,
      pushNotificationConfig,
    })
  })

  test('gets the error of v0.3 for a task that does not exist', async () => {
    const answer = await (await create()).getTask({ id: 'nope' })
    expect(answer).toMatchObject({ error: { code: -32001 } })
  })
})

describe('the client of SDK 0.3.14 that its factory makes, as it is', () => {
  test('finds the agent from its address, and speaks JSON-RPC', async () => {
    const client = await new v0314.ClientFactory().createFromUrl(`${address()}/`)
    expect(await client.sendMessage({ message: message(), configuration: { blocking: false } })).toMatchObject({
      kind: 'task',
    })
    expect(await client.getAgentCard()).toMatchObject({ name: 'donna', url: address() })
  })

  test('speaks HTTP+JSON if it prefers that', async () => {
    const transports = [new v0314.RestTransportFactory()]
    const client = await new v0314.ClientFactory({ transports }).createFromUrl(`${address()}/`)
    const task = await client.sendMessage({ message: message(), configuration: { blocking: false } })
    expect(task).toMatchObject({ kind: 'task', status: { state: 'submitted' } })
  })
})

describe.each(['agent-card.json', 'agent.json'])('the client of SDK 1.0.1 at %s', (file) => {
  test('speaks v1.0', async () => {
    const transports = [new v101.JsonRpcTransportFactory()]
    const client = await new v101.ClientFactory({ transports }).createFromUrl(address(), cardUrl(file))
    expect(client.protocolVersion).toBe('1.0')
    expect(await client.sendMessage(saying('hello', {}, { returnImmediately: true }))).toMatchObject({
      status: { state: 1 },
    })
  })
})

// biome-ignore lint/suspicious/noExplicitAny: what the wire carries
function resultOf(answer: any): any {
  expect(answer.error).toBeUndefined()
  return answer.result
}

async function move(id: string, to: string): Promise<void> {
  const { body } = await gateway.call('GET', `/v1/tasks/${id}`, undefined, { key: donna.key })
  const moved = { to, expectedVersion: body.version }
  expect((await gateway.call('POST', `/v1/tasks/${id}/transitions`, moved, { key: donna.key })).status).toBe(200)
}
