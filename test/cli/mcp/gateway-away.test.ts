import { expect, test } from 'vitest'
import { Unreachable } from '../../../src/client/failure.ts'
import { startGateway } from '../../support/gateway.ts'
import { startStubGateway } from '../stub-gateway.ts'
import { startMcpPair } from './start-mcp-pair.ts'

const whoami = { name: 'whoami', arguments: {} }

test.each(['legacy', 'modern'] as const)('without a gateway everything answers but the calls (%s)', async (era) => {
  const { client } = await startMcpPair(era, { url: 'http://127.0.0.1:1', key: 'k' })
  expect(client.getInstructions()).toContain('Rouse')
  expect((await client.listTools()).tools.length).toBeGreaterThan(0)
  const { isError, content } = await client.callTool(whoami)
  expect(isError).toBe(true)
  expect(JSON.stringify(content)).toMatch(/http:\/\/127\.0\.0\.1:1 cannot be reached.*rouse serve/)
})

test('a gateway that comes up later is used without a restart, with the key that is there by then', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  let isUp = false
  const credentials = async () => {
    if (!isUp) throw new Unreachable(gateway.url, 'ECONNREFUSED')
    return { key: donna.key }
  }
  const { client } = await startMcpPair('legacy', { url: gateway.url, key: '', credentials })
  expect((await client.callTool(whoami)).isError).toBe(true)
  isUp = true
  expect((await client.callTool(whoami)).isError).toBeUndefined()
})

test('a key that is put right is read again', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  let key = 'wrong'
  const { client } = await startMcpPair('legacy', { url: gateway.url, key: '', credentials: async () => ({ key }) })
  expect((await client.callTool(whoami)).isError).toBe(true)
  key = donna.key
  expect((await client.callTool(whoami)).isError).toBeUndefined()
})

test('a key that is taken away and given anew while it runs fails no call', async () => {
  await using gateway = await startGateway()
  let { key } = await gateway.addAgent('donna')
  const { client } = await startMcpPair('legacy', { url: gateway.url, key: '', credentials: async () => ({ key }) })
  expect((await client.callTool(whoami)).isError).toBeUndefined()
  const { body } = await gateway.call('GET', '/v1/agents/donna/keys')
  const { body: made } = await gateway.call('POST', '/v1/agents/donna/keys', {})
  await gateway.call('DELETE', `/v1/agents/donna/keys/${body.keys[0].keyId}`)
  key = made.apiKey
  expect((await client.callTool(whoami)).isError).toBeUndefined()
})

test('what is no gateway is said to be none', async () => {
  await using stub = await startStubGateway({ 'POST /v1/sessions': { text: '<html>' } })
  const { client } = await startMcpPair('legacy', { url: stub.url, key: 'k' })
  const { isError, content } = await client.callTool(whoami)
  expect(isError).toBe(true)
  expect(JSON.stringify(content)).toContain('no Rouse gateway')
})
