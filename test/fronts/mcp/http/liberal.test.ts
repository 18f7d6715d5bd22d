import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startGateway, type TestAgent, type TestGateway } from '../../../support/gateway.ts'
import { mcpRequest } from './call-tool.ts'
import { beginSession, initialize, ping, post } from './wire.ts'

let gateway: TestGateway
let donna: TestAgent
beforeAll(async () => {
  gateway = await startGateway()
  donna = await gateway.addAgent('donna')
})
afterAll(() => gateway[Symbol.asyncDispose]())

const whoami = { jsonrpc: '2.0', id: 'a', method: 'tools/call', params: { name: 'whoami' } }
const json = 'application/json'
const event = 'text/event-stream'

/** The one message of an answer, in whichever form it came. */
function messageIn(body: unknown) {
  return typeof body === 'string' ? JSON.parse(/^data: (.*)$/m.exec(body)![1]!) : body
}

describe.each([
  [json, json],
  ['*/*', json],
  ['text/html', json],
  ['', json],
  [`${json}, ${event}`, json],
  [event, event],
])('a client that accepts "%s" is answered with %s', (accept, form) => {
  const headers = { accept }

  test('in a session', async () => {
    const begun = await post(gateway, donna, initialize(), headers)
    expect([begun.status, begun.headers.get('content-type')]).toEqual([200, form])
    expect(messageIn(begun.body)).toMatchObject({ id: 1, result: { protocolVersion: '2025-11-25' } })
    const session = { 'mcp-session-id': begun.headers.get('mcp-session-id')! }
    const answer = await post(gateway, donna, whoami, { ...session, ...headers })
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, form])
    expect(messageIn(answer.body)).toMatchObject({ id: 'a', result: { structuredContent: { identity: '@donna' } } })
  })

  test('without one', async () => {
    const request = mcpRequest('tools/call', { name: 'whoami' })
    const answer = await post(gateway, donna, request.body, { ...request.headers, ...headers })
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, form])
    expect(messageIn(answer.body)).toMatchObject({ id: 1, result: { structuredContent: { identity: '@donna' } } })
  })
})

test('a client that takes no streams gets the result without its progress', async () => {
  const params = { name: 'wait_for_messages', arguments: { timeoutSeconds: 1 }, _meta: { progressToken: 1 } }
  const session = await beginSession(gateway, donna)
  const old = await post(gateway, donna, { ...whoami, params }, { ...session, accept: json })
  const request = mcpRequest('tools/call', params)
  Object.assign(request.body.params as object, {
    _meta: { ...(request.body.params as { _meta: object })._meta, ...params._meta },
  })
  const modern = await post(gateway, donna, request.body, { ...request.headers, accept: json })
  for (const { headers, body } of [old, modern]) {
    expect(headers.get('content-type')).toBe(json)
    expect(body.result.structuredContent.arrived).toBe(false)
  }
})

test.each<[method: string, params: unknown]>([
  ['ping', null],
  ['ping', []],
  ['tools/list', { cursor: null }],
  ['tools/list', { cursor: '' }],
  ['tools/list', { _meta: null }],
  ['tools/call', { name: 'whoami', arguments: null }],
  ['tools/call', { name: 'whoami', arguments: [] }],
  ['tools/call', { name: 'whoami', arguments: '{}' }],
  ['tools/call', { name: 'who', arguments: '{"limit":"1"}' }],
  ['prompts/get', { name: 'answer-my-mail', arguments: null }],
])('%s takes %j for its parameters', async (method, params) => {
  const session = await beginSession(gateway, donna)
  const { status, body } = await post(gateway, donna, { jsonrpc: '2.0', id: 'a', method, params }, session)
  expect([status, body.id, body.error, body.result.isError]).toEqual([200, 'a', undefined, undefined])
})

test.each([
  { capabilities: null, clientInfo: null },
  { capabilities: [], clientInfo: {} },
  { clientInfo: { name: 'x', version: null } },
])('a session begins with %j', async (params) => {
  const { status, body } = await post(gateway, donna, initialize(params))
  expect([status, body.result?.serverInfo.name]).toEqual([200, 'rouse'])
})

describe('what is refused is answered with its id', () => {
  test.each<[what: string, request: object, status: number]>([
    ['no JSON-RPC', { id: 'a', method: 'ping' }, 400],
    ['a method that is none', { jsonrpc: '2.0', id: 'a', method: 7 }, 400],
    ['parameters that are none', { jsonrpc: '2.0', id: 'a', method: 'ping', params: [1] }, 400],
    ['no session', { ...ping, id: 'a' }, 400],
    ['an unknown session', { ...ping, id: 'a', session: 'x' }, 404],
    ['too much of a client', initialize({ clientInfo: { name: 'x'.repeat(40_000), version: '1' } }), 413],
    ['no version', initialize({ protocolVersion: null }), 200],
  ])('%s', async (_what, { session, ...request }: { session?: string; id?: unknown }, expected) => {
    const { status, body } = await post(gateway, donna, request, session ? { 'mcp-session-id': session } : {})
    expect([status, body.id, typeof body.error.message]).toEqual([expected, request.id, 'string'])
  })

  test.each([
    ['initialize', {}],
    ['ping', {}],
    ['logging/setLevel', {}],
    ['resources/subscribe', {}],
    ['resources/unsubscribe', { uri: 7 }],
    ['no/method', {}],
  ])('%s without a session, where there is no such method', async (method, params) => {
    const request = mcpRequest(method, params)
    const { status, body } = await post(gateway, donna, request.body, request.headers)
    expect([status, body.id, body.error.code]).toEqual([404, 1, -32601])
  })
})

test('a list that is requested as a stream has the same result', async () => {
  const session = await beginSession(gateway, donna)
  const list = { jsonrpc: '2.0', id: 7, method: 'tools/list', params: {} }
  const plain = await post(gateway, donna, list, session)
  const streamed = await post(gateway, donna, { ...list, params: { _meta: { progressToken: 1 } } }, session)
  expect(streamed.headers.get('content-type')).toBe(event)
  expect(messageIn(streamed.body)).toEqual(plain.body)
})
