import { InMemoryTransport } from '@modelcontextprotocol/server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createMcpServer } from '../../../../src/fronts/mcp/create-mcp-server.ts'
import type { JsonObject } from '../../../../src/lib/json.ts'
import { startGateway, type TestAgent, type TestGateway } from '../../../support/gateway.ts'
import { mcpRequest } from './call-tool.ts'
import { beginSession, initialize, post } from './wire.ts'

/** A line that reads backwards, and more of it than anybody reads. */
const hostile = `x\u202e\u001b[2J\u0007\n\u{e0041}${'y'.repeat(50_000)}`
const unseen = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/u
const version = '2026-07-28'

let gateway: TestGateway
let donna: TestAgent
beforeAll(async () => {
  gateway = await startGateway()
  donna = await gateway.addAgent('donna')
})
afterAll(() => gateway[Symbol.asyncDispose]())

const requests = [
  {
    method: 'tools/call',
    params: { name: hostile.slice(0, 9_000), arguments: {} },
    says: /^There is no tool "x.*tools\/list/,
  },
  { method: 'tools/call', params: { name: '__proto__' }, says: /^There is no tool "__proto__"/ },
  { method: 'tools/call', params: { name: 'whoami ' }, says: /^There is no tool "whoami "/ },
  { method: 'prompts/get', params: { name: hostile.slice(0, 9_000) }, says: /^There is no prompt "x.*prompts\/list/ },
  { method: 'prompts/get', params: { name: 'constructor' }, says: /^There is no prompt "constructor"/ },
  { method: 'resources/read', params: { uri: hostile.slice(0, 9_000) }, says: /^uri: is longer than 2048/ },
  { method: 'resources/read', params: { uri: hostile.slice(0, 99) }, says: /^There is no resource "x/ },
  {
    method: 'resources/read',
    params: { uri: 'rouse://inbox/a/b' },
    says: /^There is no resource "rouse:\/\/inbox\/a\/b"/,
  },
  {
    method: 'resources/read',
    params: { uri: `rouse://x/${hostile.slice(0, 99)}` },
    says: /^There is no resource "rouse/,
  },
]
const message = (method: string, params: object) => ({ jsonrpc: '2.0', id: 'a', method, params })

function expectOwnText({ error }: JsonObject, says: RegExp): void {
  expect(error).toEqual({ code: -32602, message: expect.stringMatching(says) })
  const text = (error as { message: string }).message
  expect(text.length).toBeLessThan(250)
  expect(text).not.toMatch(unseen)
}

describe.each(requests)('$method of what there is not ($says)', ({ method, params, says }) => {
  test('is refused in our words in a session', async () => {
    const session = await beginSession(gateway, donna)
    const { status, body } = await post(gateway, donna, message(method, params), session)
    expect(status).toBe(200)
    expectOwnText(body, says)
  })

  test('is refused in our words in a batch', async () => {
    const session = await beginSession(gateway, donna, { protocolVersion: '2025-03-26' })
    const { body } = await post(gateway, donna, [message(method, params)], session)
    expectOwnText(body[0], says)
  })

  test('is refused in our words without a session', async () => {
    const { headers, body: request } = mcpRequest(method, params)
    const name = Buffer.from(String(params.name ?? params.uri)).toString('base64')
    const { status, body } = await post(gateway, donna, request, { ...headers, 'mcp-name': `=?base64?${name}?=` })
    expect(status).toBe(200)
    expectOwnText(body, says)
  })

  test('is refused in our words over a transport without HTTP', async () => {
    const call = () => Promise.reject(new Error('not called'))
    const server = createMcpServer({ call, version: '1', capabilities: { resources: { subscribe: true } } })
    const [client, served] = InMemoryTransport.createLinkedPair()
    await server.connect(served)
    await client.start()
    const ask = (request: object) =>
      new Promise<JsonObject>((resolve) => {
        client.onmessage = (answer) => resolve(answer as JsonObject)
        void client.send(request as never)
      })
    await ask(initialize())
    expectOwnText(await ask(message(method, params)), says)
    await server.close()
  })
})

test.each([
  ['a method', hostile, version],
  ['a version', 'tools/list', hostile],
])('%s that the headers do not name is repeated as the beginning of one line', async (_, method, claimed) => {
  const headers = { 'mcp-protocol-version': version, 'mcp-method': 'tools/list' }
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': claimed,
    'io.modelcontextprotocol/clientInfo': { name: 'x', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const { status, body } = await post(gateway, donna, message(method, { _meta }), headers)
  expect([status, body.error.message]).toEqual([400, expect.stringContaining('headers and body disagree')])
  expect(JSON.stringify(body).length).toBeLessThan(2_000)
  expect(JSON.stringify(body)).not.toMatch(/\\u00|\\n|\u202e/)
})

test('a field whose name is hostile is named by the beginning of one line', async () => {
  const session = await beginSession(gateway, donna)
  const given = { name: 'hand-over', arguments: { [hostile]: 1 } }
  const { body } = await post(gateway, donna, message('prompts/get', given), session)
  expect(body.error).toMatchObject({ code: -32602, message: expect.stringMatching(/^params\.arguments\.x/) })
  expect(body.error.message.length).toBeLessThan(700)
  expect(body.error.message).not.toMatch(unseen)
})
