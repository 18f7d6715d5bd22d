import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'

/** 16 MiB of blanks and an object: 16 KB as gzip. */
const bomb = gzipSync(`${' '.repeat(16 * 1024 * 1024)}{}`)

const rpc = { jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: 't' } }
const mcp = { jsonrpc: '2.0', id: 1, method: 'ping' }

test.each([
  ['REST', '/v1/messages', 415, {}],
  ['A2A over JSON-RPC', '/agents/donna', 200, rpc],
  ['A2A over HTTP+JSON', '/agents/donna/message:send', 415, {}],
  ['A2A v0.3 over HTTP+JSON', '/agents/donna/v1/message:send', 415, {}],
  ['MCP', '/mcp', 415, mcp],
])('%s refuses a compressed body unread, and says how to send it', async (_front, path, status, body) => {
  await using gateway = await startGateway()
  const { key } = await gateway.addAgent('donna')
  const send = (bytes: Buffer, encoding: string) =>
    fetch(gateway.url + path, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'content-encoding': encoding,
        'a2a-version': path.includes('/v1/message') ? '0.3' : '1.0',
        accept: 'application/json, text/event-stream',
      },
      body: new Uint8Array(bytes),
    })
  const refused = await send(bomb, 'gzip')
  expect([refused.status, refused.headers.get('accept-encoding')]).toEqual([status, 'identity'])
  expect(await refused.text()).toContain('Content-Encoding: this endpoint takes no compressed bodies.')
  const plain = await send(Buffer.from(JSON.stringify(body)), 'identity')
  expect(await plain.text()).not.toContain('Content-Encoding')
})
