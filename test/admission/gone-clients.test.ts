import { SendMessageRequest } from '@a2a-js/sdk'
import { expect, test } from 'vitest'
import { callTool, toolCall } from '../fronts/mcp/http/call-tool.ts'
import { beginSession } from '../fronts/mcp/http/wire.ts'
import { bearer, rawClient } from '../grpc/raw-client.ts'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { blockWrites } from '../support/store.ts'
import { until } from '../support/until.ts'

const mail = { to: '@donna', subject: 'please' }
const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hello' }] }
const configuration = { returnImmediately: true }

/** Sends a request and returns the function that has its client hang up. */
type Send = (gateway: TestGateway, lola: TestAgent) => () => void

const over =
  (path: string, body: unknown, headers: Record<string, string> = {}): Send =>
  ({ url }, { key }) => {
    const gone = new AbortController()
    fetch(url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
      signal: gone.signal,
    }).catch(() => {})
    return () => gone.abort()
  }

const rpc = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message, configuration } }
const tool = toolCall('send_message', mail)
const a2a = { 'a2a-version': '1.0' }

const fronts: Record<string, Send> = {
  REST: over('/v1/messages', mail),
  'JSON-RPC': over('/agents/donna', rpc, a2a),
  'HTTP+JSON': over('/agents/donna/message:send', { message, configuration }, a2a),
  MCP: over('/mcp', tool.body, tool.headers),
  gRPC: ({ grpcTarget }, { key }) => {
    const client = rawClient(grpcTarget)
    const request = SendMessageRequest.fromJSON({ tenant: 'agents/donna', message, configuration })
    const cancel = client.begin('sendMessage', request, bearer(key))
    return () => {
      cancel()
      client[Symbol.dispose]()
    }
  },
}

async function start() {
  const gateway = await startGateway()
  const [donna, lola] = [await gateway.addAgent('donna'), await gateway.addAgent('lola')]
  // The library of MCP is loaded for the first request: a client that is gone before has nothing begun.
  await callTool(gateway, lola.key, 'whoami', {})
  const whoami = async ({ key }: TestAgent) => (await gateway.call('GET', '/v1/whoami', undefined, { key })).status
  const limits = { requestsAtOnce: 1, requestsQueued: 0 }
  return { gateway, donna, lola, whoami, bound: () => gateway.call('PATCH', '/v1/projects/default', { limits }) }
}

test.each(Object.entries(fronts))(
  'a client that hangs up over %s keeps its slot until its request has ended',
  async (_front, send) => {
    const { gateway, donna, lola, whoami, bound } = await start()
    await using _gateway = gateway
    await bound()
    const unblock = await blockWrites(gateway.dataDir)
    const hangUp = send(gateway, lola)
    try {
      await until(
        () => whoami(lola),
        (status) => status === 429,
      )
      hangUp()
      // Others are served, so the gateway has seen that the client is gone.
      for (let time = 0; time < 20; time++) expect(await whoami(donna)).toBe(200)
      expect(await whoami(lola)).toBe(429)
    } finally {
      await unblock()
    }
    await until(
      () => whoami(lola),
      (status) => status === 200,
    )
  },
)

test('of a batch over MCP, each request keeps its slot until it has ended', async () => {
  const { gateway, donna, lola, whoami, bound } = await start()
  await using _gateway = gateway
  const session = await beginSession(gateway, lola, { protocolVersion: '2025-03-26' })
  await bound()
  const { params } = tool.body as { params: { name: string; arguments: object } }
  const calls = [1, 2, 3].map((id) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { ...params, _meta: {} } }))
  const unblock = await blockWrites(gateway.dataDir)
  const accept = 'application/json, text/event-stream'
  const hangUp = over('/mcp', calls, { accept, ...session })(gateway, lola)
  try {
    await until(
      () => whoami(lola),
      (status) => status === 429,
    )
    hangUp()
    for (let time = 0; time < 20; time++) expect(await whoami(donna)).toBe(200)
    expect(await whoami(lola)).toBe(429)
  } finally {
    await unblock()
  }
  await until(
    () => whoami(lola),
    (status) => status === 200,
  )
  const { body } = await gateway.call('GET', '/v1/inbox', undefined, { key: donna.key })
  expect(body.messages.length).toBeLessThan(2)
})

test('streams, blocking calls and waits that hang up leave no slot behind', async () => {
  const { gateway, lola, whoami, bound } = await start()
  await using _gateway = gateway
  await gateway.call('POST', '/v1/sessions', { surface: 'cli' }, { key: lola.key })
  await bound()
  const listen = toolCall('wait_for_messages', { timeoutSeconds: 20 })
  const waiting: Send[] = [
    over('/agents/donna', { ...rpc, params: { message } }, a2a),
    over(
      '/agents/donna',
      { ...rpc, method: 'SendStreamingMessage', params: { message: { ...message, messageId: 'n' } } },
      a2a,
    ),
    over('/v1/event-types/poll', { name: 'mail.received', timeoutMs: 20_000 }),
    over('/mcp', listen.body, listen.headers),
  ]
  for (const send of waiting) {
    const hangUp = send(gateway, lola)
    // The place is free while it waits, and when it is over.
    await until(
      () => whoami(lola),
      (status) => status === 200,
    )
    hangUp()
    await until(
      () => whoami(lola),
      (status) => status === 200,
    )
  }
})
