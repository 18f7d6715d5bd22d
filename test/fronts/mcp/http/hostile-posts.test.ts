import { expect, test } from 'vitest'
import type { TestAgent, TestGateway } from '../../../support/gateway.ts'
import { startGateway } from '../../../support/gateway.ts'
import { until } from '../../../support/until.ts'
import { beginSession, initialize, ping, post } from './wire.ts'

const whoami = (id: unknown) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name: 'whoami', arguments: {} },
})

const modern = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'x', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}

/** Sets a limit of the agent's project. */
async function limit(gateway: TestGateway, limits: object): Promise<void> {
  expect((await gateway.call('PATCH', '/v1/projects/default', { limits })).status).toBe(200)
}

const begun = (gateway: TestGateway, donna: TestAgent) =>
  beginSession(gateway, donna, { protocolVersion: '2025-03-26' })

test('each request of a batch counts as one, and what is refused is that request alone', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const session = await begun(gateway, donna)
  await limit(gateway, { requestsPerMinute: 5 })
  const { status, body } = await post(
    gateway,
    donna,
    Array.from({ length: 20 }, (_, at) => whoami(at)),
    session,
  )
  expect([status, body.length]).toEqual([200, 20])
  const [first, last] = [body[0], body.at(-1)]
  expect([first.id, first.result.structuredContent.identity]).toEqual([0, '@donna'])
  expect([last.id, last.error.data.code]).toEqual([19, 'rate-limited'])
})

test('wrong parameters in a batch are refused with the name of the field, and the others are answered', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const session = await begun(gateway, donna)
  const wrong = { jsonrpc: '2.0', id: 'a', method: 'tools/call', params: { arguments: {} } }
  const { body } = await post(gateway, donna, [wrong, ping], session)
  expect(body).toEqual([
    { jsonrpc: '2.0', id: 'a', error: { code: -32602, message: expect.stringMatching(/^params\.name: /) } },
    { jsonrpc: '2.0', id: 2, result: {} },
  ])
})

test('a wait counts once, and work beside it is none', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const session = await beginSession(gateway, donna)
  await limit(gateway, { blockingCalls: 2 })
  const wait = (id: string) =>
    post(
      gateway,
      donna,
      { ...whoami(id), params: { name: 'wait_for_messages', arguments: { timeoutSeconds: 600 } } },
      session,
    )
  // One key may have half of them: of two waits that come at once, either may be the second.
  const both = [wait('v'), wait('w')]
  const { result: refused } = (await Promise.race(both)).body
  expect(refused).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('blockingCalls') }] })
  expect((await post(gateway, donna, whoami(2), session)).body.result.isError).toBeUndefined()
  await gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'Hello', wakePolicy: 'immediate' })
  const results = (await Promise.all(both)).map(({ body }) => body.result)
  expect(results.filter(({ structuredContent }) => structuredContent?.arrived === true)).toHaveLength(1)
})

test('every message of a batch is answered, also two with the same id', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const session = await begun(gateway, donna)
  const { body } = await post(gateway, donna, [ping, { jsonrpc: '2.0', method: 'notifications/x' }, ping], session)
  expect(body).toEqual([
    { jsonrpc: '2.0', id: 2, result: {} },
    { jsonrpc: '2.0', id: 2, result: {} },
  ])
})

test('a protocol version without batches refuses them', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const session = await beginSession(gateway, donna, { protocolVersion: '2025-06-18' })
  const { status, body } = await post(gateway, donna, [ping], session)
  expect([status, body.error.code]).toEqual([400, -32600])
  expect((await post(gateway, donna, [initialize(), ping], session)).status).toBe(400)
})

test('no id of a client is one of the gateway', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const session = await beginSession(gateway, donna)
  const { body } = await post(gateway, donna, { ...ping, id: 'rouse.initialize' }, session)
  expect(body).toEqual({ jsonrpc: '2.0', id: 'rouse.initialize', result: {} })
})

test('a call that works keeps its place, and one that waits frees it', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const session = await beginSession(gateway, donna)
  await limit(gateway, { requestsAtOnce: 1 })
  const waiting = post(
    gateway,
    donna,
    { ...whoami(1), params: { name: 'wait_for_messages', arguments: { timeoutSeconds: 2 } } },
    session,
  )
  expect((await post(gateway, donna, whoami(2), session)).status).toBe(200)
  expect((await waiting).body.result.structuredContent.arrived).toBe(false)
})

test.each([{}, { progressToken: 'x' }])('the POST of a cancelled call ends: %j', async (_meta) => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const session = await beginSession(gateway, donna)
  await post(gateway, donna, whoami(1), session)
  const params = { name: 'wait_for_messages', arguments: { timeoutSeconds: 600 }, _meta }
  const waiting = post(gateway, donna, { ...whoami('w'), params }, session)
  const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'w' } }
  let isOver = false
  const over = waiting.finally(() => {
    isOver = true
  })
  await until(
    async () => {
      await post(gateway, donna, cancel, session)
      return isOver
    },
    (ended) => ended,
  )
  expect((await over).status).toBe(200)
})

test('HEAD is no stream, and the other methods know their protocol version too', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const session = await beginSession(gateway, donna)
  const ask = (method: string, headers: Record<string, string> = {}) =>
    gateway.call(method, '/mcp', undefined, {
      key: donna.key,
      headers: { accept: 'text/event-stream', ...session, ...headers },
    })
  expect((await ask('HEAD')).status).toBe(405)
  expect((await ask('GET', { 'mcp-protocol-version': '1999-01-01' })).status).toBe(400)
  expect((await ask('DELETE', { 'mcp-protocol-version': '1999-01-01' })).status).toBe(400)
  expect((await post(gateway, donna, ping, session)).status).toBe(200)
})

test('whoever listens without a session needs the scope of a stream', async () => {
  await using gateway = await startGateway()
  await gateway.addAgent('donna')
  const { body } = await gateway.call('POST', '/v1/agents/donna/keys', { scopes: ['send'] })
  const _meta = modern
  const notifications = { resourceSubscriptions: ['rouse://inbox/@donna'] }
  const listen = { jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params: { notifications, _meta } }
  const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'subscriptions/listen' }
  expect((await post(gateway, { key: body.apiKey }, listen, headers)).status).toBe(403)
})

test('what is not the URI of a resource is refused, not a failure of the gateway', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const session = await beginSession(gateway, donna)
  const read = { jsonrpc: '2.0', id: 1, method: 'resources/read', params: { uri: 'rouse://task/%E0%A4%A' } }
  expect((await post(gateway, donna, read, session)).body.error.code).toBe(-32602)
  const _meta = modern
  const notifications = { resourceSubscriptions: [{ toString: 1, valueOf: 1 }] }
  const listen = { jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params: { notifications, _meta } }
  const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'subscriptions/listen' }
  expect((await post(gateway, donna, listen, headers)).status).toBeLessThan(500)
})
