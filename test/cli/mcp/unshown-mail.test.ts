import type { Transport } from '@modelcontextprotocol/server'
import { expect, test } from 'vitest'
import { clientFetch } from '../../../src/client/client-fetch.ts'
import { startGateway, type TestAgent, type TestGateway } from '../../support/gateway.ts'
import { until } from '../../support/until.ts'
import { serveOnPair, startMcpPair } from './start-mcp-pair.ts'

const whoami = { name: 'whoami', arguments: {} }
const write = (gateway: TestGateway) => gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'Hello' })
const inbox = async (gateway: TestGateway, { key }: TestAgent) =>
  (await gateway.call('GET', '/v1/inbox', undefined, { key })).body.messages
const isReturned = ([mail]: { deliveryMethod: string | null }[]) => mail!.deliveryMethod === null

// S2-14
test.each(['legacy', 'modern'] as const)(
  'a client of the %s era that cancels its call gets the mail of that call with the next one',
  async (era) => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const stop = new AbortController()
    let mayCancel = false
    const fetch: typeof clientFetch = async (url, init) => {
      const response = await clientFetch(url, init)
      if (!mayCancel || !url.endsWith('/v1/whoami')) return response
      // The answer is here with the mail, and the client cancels before it gets it.
      const text = await response.text()
      expect(text).toContain('Hello')
      mayCancel = false
      stop.abort()
      await new Promise(setImmediate)
      return { ...response, status: response.status, headers: response.headers, text: async () => text }
    }
    const { client } = await startMcpPair(era, { url: gateway.url, key: donna.key, fetch })
    await client.callTool(whoami)
    await write(gateway)
    mayCancel = true
    await expect(client.callTool(whoami, { signal: stop.signal })).rejects.toThrow()
    await until(() => inbox(gateway, donna), isReturned)
    expect(JSON.stringify(await client.callTool(whoami))).toContain('Hello')
  },
)

test('mail whose result could not be written waits for the next session', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  await write(gateway)
  const transport = brokenPipe()
  const { close, said } = serveOnPair({ url: gateway.url, key: donna.key, transport })
  await transport.refused
  expect(await inbox(gateway, donna)).toMatchObject([{ deliveryMethod: 'piggyback' }])
  await transport.close()
  await close()
  expect(said.join(' ')).toContain('Returned 1 messages')
  expect(await inbox(gateway, donna)).toMatchObject([{ deliveryMethod: null, status: 'sent' }])
})

test('mail whose result was written is not returned', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const { client, close } = await startMcpPair('legacy', { url: gateway.url, key: donna.key })
  await write(gateway)
  expect(JSON.stringify(await client.callTool(whoami))).toContain('Hello')
  await close()
  expect(await inbox(gateway, donna)).toMatchObject([{ deliveryMethod: 'piggyback' }])
})

/** A client that calls a tool and is gone before the result is written. `refused` resolves at the result. */
function brokenPipe(): Transport & { readonly refused: Promise<void> } {
  let refuse = () => {}
  const refused = new Promise<void>((resolve) => (refuse = resolve))
  const transport: Transport & { readonly refused: Promise<void> } = {
    refused,
    async start() {
      const clientInfo = { name: 'a-client', version: '1' }
      const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo }
      transport.onmessage?.({ jsonrpc: '2.0', id: 1, method: 'initialize', params })
    },
    async send(message) {
      if (!('id' in message)) return
      if (message.id === 1) {
        transport.onmessage?.({ jsonrpc: '2.0', method: 'notifications/initialized' })
        transport.onmessage?.({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: whoami })
        return
      }
      refuse()
      throw new Error('write EPIPE')
    },
    async close() {
      transport.onclose?.()
    },
  }
  return transport
}
