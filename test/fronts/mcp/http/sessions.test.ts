import { expect, test } from 'vitest'
import { KiB, sizeLimits } from '../../../../src/limits.ts'
import { liftRates, startGateway } from '../../../support/gateway.ts'
import { besideStore } from '../../../support/store.ts'
import { until } from '../../../support/until.ts'
import { beginSession, initialize, openStream, ping, post } from './wire.ts'

test('a session serves its own caller, after a restart too', async () => {
  const first = await startGateway()
  const donna = await first.addAgent('donna')
  const mike = await first.addAgent('mike')
  const session = await beginSession(first, donna)
  expect((await post(first, donna, ping, session)).body).toEqual({ jsonrpc: '2.0', id: 2, result: {} })
  await first.stop()
  await using second = await startGateway({ dataDir: first.dataDir })
  expect((await post(second, donna, ping, session)).status).toBe(200)
  const { status, body } = await post(second, mike, ping, session)
  expect([status, body.error.code]).toEqual([404, -32001])
  expect((await second.call('GET', '/mcp', undefined, { key: mike.key, headers: session })).status).toBe(404)
  expect((await second.call('DELETE', '/mcp', undefined, { key: mike.key, headers: session })).status).toBe(404)
})

test('a session of an operator is of the key that began it: another operator neither uses nor ends it', async () => {
  await using gateway = await startGateway()
  const operator = async (role: string) => {
    const { body } = await gateway.call('POST', '/v1/operator-keys', { role })
    return { handle: '@operator', key: body.operatorKey as string }
  }
  const [manager, viewer] = [await operator('manager'), await operator('viewer')]
  const session = await beginSession(gateway, manager)
  expect((await post(gateway, viewer, ping, session)).status).toBe(404)
  for (const { key } of [viewer, { key: gateway.adminKey }])
    expect((await gateway.call('DELETE', '/mcp', undefined, { key, headers: session })).status).toBe(404)
  expect((await post(gateway, manager, ping, session)).status).toBe(200)
})

test('without a session a request is 400, with an unknown one 404, without a key 401', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  expect((await post(gateway, donna, ping)).status).toBe(400)
  expect((await post(gateway, donna, ping, { 'mcp-session-id': 'x' })).status).toBe(404)
  const refused = await post(gateway, { key: 'rk_wrong' }, initialize())
  expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="rouse"'])
  expect(refused.body.error.data.code).toBe('unauthenticated')
})

test.each(['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'])('%s is negotiated', async (protocolVersion) => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const { body } = await post(gateway, donna, initialize({ protocolVersion }))
  expect(body.result).toMatchObject({ protocolVersion, serverInfo: { name: 'rouse' } })
})

test('web pages of other sites are refused, those of this machine are not', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const from = async (origin: string) => (await post(gateway, donna, initialize(), { origin })).status
  expect(await from('https://evil.example')).toBe(403)
  expect(await from('null')).toBe(403)
  expect(await from('chrome-extension://localhost')).toBe(403)
  expect(await from('http://localhost:6274')).toBe(200)
})

test.each(['HEAD', 'PUT', 'OPTIONS'])('%s is not a method of MCP', async (method) => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const headers = await beginSession(gateway, donna)
  const answer = await gateway.call(method, '/mcp', undefined, { key: donna.key, headers })
  expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, POST, DELETE'])
})

test('the end of a session ends its stream, and a newer stream ends an older one', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const session = await beginSession(gateway, donna)
  await using older = await openStream(gateway, donna, session)
  await using newer = await openStream(gateway, donna, session)
  await until(
    () => older.hasEnded,
    (ended) => ended,
  )
  expect(newer.hasEnded).toBe(false)
  expect((await gateway.call('DELETE', '/mcp', undefined, { key: donna.key, headers: session })).status).toBe(200)
  await until(
    () => newer.hasEnded,
    (ended) => ended,
  )
  expect((await post(gateway, donna, ping, session)).status).toBe(404)
})

test('the key of one operator ends no session of another', async () => {
  await using gateway = await startGateway()
  const session = await beginSession(gateway, { key: gateway.adminKey })
  const { body } = await gateway.call('POST', '/v1/operator-keys', { role: 'viewer' })
  const end = (key: string) => gateway.call('DELETE', '/mcp', undefined, { key, headers: session })
  expect((await end(body.operatorKey)).status).toBe(404)
  expect((await end(gateway.adminKey)).status).toBe(200)
})

test('a session and its stream end with the key that began it', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const { body } = await gateway.call('POST', '/v1/agents/donna/keys', {})
  const other = { handle: 'donna', key: body.apiKey as string }
  const session = await beginSession(gateway, other)
  await using stream = await openStream(gateway, donna, session)
  expect(stream.status).toBe(200)
  await gateway.call('DELETE', `/v1/agents/donna/keys/${body.keyId}`)
  await until(
    () => stream.hasEnded,
    (ended) => ended,
  )
  expect((await post(gateway, donna, ping, session)).status).toBe(404)
})

test('one key has so many sessions: the one that was not used for the longest time ends', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  await liftRates(gateway)
  const sessions: Record<string, string>[] = []
  for (let i = 0; i <= 100; i++) sessions.push(await beginSession(gateway, donna))
  const statuses = await Promise.all(sessions.map(async (one) => (await post(gateway, donna, ping, one)).status))
  expect(statuses.filter((status) => status === 404)).toHaveLength(1)
  expect(statuses.at(-1)).toBe(200)
})

test.each([
  ['a long id', { ...ping, id: 'x'.repeat(501) }, 400],
  ['a batch without messages', [], 400],
  ['a long batch', Array(101).fill(ping), 400],
  ['something else', { hello: 'world' }, 400],
  ['much nesting', `${'['.repeat(100)}${']'.repeat(100)}`, 400],
  ['no JSON', '{"jsonrpc"', 400],
  ['large client information', initialize({ clientInfo: { name: 'x'.repeat(40_000), version: '1' } }), 413],
])('%s is refused', async (_what, body, status) => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const session = await beginSession(gateway, donna)
  const answer = await post(gateway, donna, body, session)
  expect([answer.status, answer.body.jsonrpc]).toEqual([status, '2.0'])
})

test('a session is subscribed to so many resources', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const session = await beginSession(gateway, donna)
  const subscribe = (uri: string) =>
    post(gateway, donna, { jsonrpc: '2.0', id: 3, method: 'resources/subscribe', params: { uri } }, session)
  const { max } = sizeLimits.items
  // All at once: none is lost.
  const answers = await Promise.all(Array.from({ length: max }, (_, i) => subscribe(`rouse://task/${i}`)))
  for (const { body } of answers) expect(body.result).toEqual({})
  expect((await subscribe('rouse://task/more')).body.error.message).toContain(`${max} resources`)
  expect((await subscribe(`rouse://${'x'.repeat(3_000)}`)).body.error.message).toContain('2048 characters')
})

test('the URIs that a session is subscribed to are bounded together; one that has more already goes on', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const session = await beginSession(gateway, donna)
  const call = async (method: string, uri: string) => {
    const message = { jsonrpc: '2.0', id: 3, method: `resources/${method}`, params: { uri } }
    const { body } = await post(gateway, donna, message, session)
    return body.error?.message ?? 'ok'
  }
  const max = 32 * KiB
  // Two bytes for each of most characters.
  const uris = Array.from({ length: 8 }, (_, at) => `rouse://task/${at}${'é'.repeat(2_000)}`)
  for (const uri of uris) expect(await call('subscribe', uri)).toBe('ok')
  const room = max - Buffer.byteLength(JSON.stringify([...uris, '']))
  const last = 'rouse://task/'.padEnd(room, 'x')
  const refusal = expect.stringMatching(`uri: the URIs .* more than ${max} bytes together. Unsubscribe from one`)
  expect(await call('subscribe', `${last}x`)).toEqual(refusal)
  expect(await call('subscribe', last)).toBe('ok')
  expect(await call('subscribe', 'rouse://me')).toEqual(refusal)
  const before = [...uris, ...Array.from({ length: 50 }, (_, at) => `rouse://task/${at}`.padEnd(2_000, 'x'))]
  await besideStore(gateway.dataDir, 'update mcp_session set resources = ?', JSON.stringify(before))
  expect((await post(gateway, donna, ping, session)).status).toBe(200)
  expect(await call('subscribe', before[50]!)).toBe('ok')
  expect(await call('subscribe', 'rouse://me')).toEqual(refusal)
  for (const uri of before) expect(await call('unsubscribe', uri)).toBe('ok')
  expect(await call('subscribe', 'rouse://me')).toBe('ok')
})

test('what was missed is sent to a reader that comes back, and only that', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const session = await beginSession(gateway, donna)
  for (const uri of ['rouse://inbox/@donna', 'rouse://other']) {
    await post(gateway, donna, { jsonrpc: '2.0', id: 3, method: 'resources/subscribe', params: { uri } }, session)
  }
  const first = await openStream(gateway, donna, session)
  const lastId = await until(
    () => first.lastId,
    (id) => id !== '',
  )
  await first[Symbol.asyncDispose]()
  await gateway.send('donna', 'while nobody listens')
  await using second = await openStream(gateway, donna, { ...session, 'last-event-id': lastId })
  await until(
    () => second.notifications,
    (all) => all.length > 0,
  )
  expect(second.notifications).toMatchObject([
    { method: 'notifications/resources/updated', params: { uri: 'rouse://inbox/@donna' } },
  ])
})

test.each([
  { method: 'tools/list', result: { tools: expect.any(Array) } },
  {
    method: 'tools/call',
    params: { name: 'wait_for_messages', arguments: { timeoutSeconds: 1 } },
    result: { structuredContent: { arrived: false } },
  },
])('a request that wants progress is answered on its stream: $method', async ({ method, params, result }) => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const session = await beginSession(gateway, donna)
  const request = { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: { progressToken: 0 } } }
  const { status, body } = await post(gateway, donna, request, session)
  const events = String(body).split('\n\n')
  const data = events.findLast((event) => event.includes('data: '))?.split('data: ')[1]
  expect([status, JSON.parse(data ?? '{}')]).toMatchObject([200, { id: 1, result }])
})

test('an agent begins so many sessions in a minute; those that it has go on', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const limits = { heavyPerMinute: 2 }
  expect((await gateway.call('PATCH', '/v1/projects/default', { limits })).status).toBe(200)
  const session = await beginSession(gateway, donna)
  await beginSession(gateway, donna)
  const { status, body } = await post(gateway, donna, initialize())
  expect([status, body.error.data]).toMatchObject([429, { code: 'rate-limited', limitName: 'heavyPerMinute' }])
  expect((await post(gateway, donna, ping, session)).status).toBe(200)
})
