import { InMemoryTransport, type JSONRPCMessage } from '@modelcontextprotocol/server'
import { expect, test } from 'vitest'
import { createMcpServer } from '../../../../src/fronts/mcp/create-mcp-server.ts'
import { sessionCapabilities, wakeSubstrate } from '../../../../src/fronts/mcp/http/capabilities.ts'
import { fixedResult, initializeResult } from '../../../../src/fronts/mcp/http/fixed-results.ts'
import { readVersion } from '../../../../src/lib/version.ts'
import { startGateway } from '../../../support/gateway.ts'
import { beginSession, initialize, post } from './wire.ts'

const paramsOf = (given: object = {}) => initialize(given).params as never
const wakes = { capabilities: { experimental: { [wakeSubstrate]: {} } } }

test.each([
  ['the newest version', {}],
  ['an old version', { protocolVersion: '2024-11-05' }],
  ['a version that nobody knows', { protocolVersion: '1999-01-01' }],
  ['a client that takes wakes', wakes],
])('what is answered without a server is what the server of the SDK answers: %s', async (_, given) => {
  const params = paramsOf(given)
  const server = createMcpServer({
    call: () => Promise.reject(new Error('not called')),
    identity: '@donna',
    project: 'web',
    version: readVersion(),
    capabilities: sessionCapabilities(params),
  })
  const [client, served] = InMemoryTransport.createLinkedPair()
  await server.connect(served)
  await client.start()
  const ask = (method: string, fields: object = {}) =>
    new Promise<{ result: unknown }>((resolve) => {
      client.onmessage = (answer: JSONRPCMessage) => resolve(answer as never)
      void client.send({ jsonrpc: '2.0', id: 1, method, params: { ...fields } })
    })
  expect(await initializeResult(params, '@donna')).toEqual((await ask('initialize', params)).result)
  for (const method of ['ping', 'tools/list', 'prompts/list', 'resources/templates/list']) {
    expect(JSON.parse((await fixedResult(method, params))!), method).toEqual((await ask(method)).result)
  }
  await server.close()
})

test('a method whose result is not the same for everybody has no fixed one', async () => {
  for (const method of ['tools/call', 'resources/list', 'resources/read', 'toString']) {
    expect(await fixedResult(method, paramsOf()), method).toBeUndefined()
  }
})

test('a list that is requested as a stream has the same result', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const session = await beginSession(gateway, donna)
  const list = { jsonrpc: '2.0', id: 7, method: 'tools/list', params: {} }
  const plain = await post(gateway, donna, list, session)
  expect([plain.status, plain.headers.get('content-type')]).toEqual([200, 'application/json'])
  const streamed = await fetch(`${gateway.url}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${donna.key}`,
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      ...session,
    },
    body: JSON.stringify({ ...list, params: { _meta: { progressToken: 1 } } }),
  })
  const [, data = ''] = /^data: (.*)$/m.exec(await streamed.text()) ?? []
  expect(JSON.parse(data)).toEqual(plain.body)
})

test('a client that does not say that it takes both kinds of answers is refused, and begins no session', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const refused = await gateway.call('POST', '/mcp', initialize(), {
    key: donna.key,
    headers: { accept: 'application/json' },
  })
  expect([refused.status, refused.headers.get('mcp-session-id')]).toEqual([406, null])
})
