import { once } from 'node:events'
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { pacedTelling } from '../../../../src/fronts/mcp/http/changed-resources.ts'
import { systemClock } from '../../../../src/lib/clock.ts'
import { startGateway } from '../../../support/gateway.ts'
import { until } from '../../../support/until.ts'
import { connectOld } from './clients.ts'
import { beginSession, initialize, ping, post } from './wire.ts'

test('a client that begins sessions without end has a bounded number of them, and others are served meanwhile', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const mallory = await gateway.addAgent('mallory')
  const session = await beginSession(gateway, donna)
  const limits = { requestsPerMinute: 150, heavyPerMinute: 0 }
  await gateway.call('PATCH', '/v1/projects/default', { limits })
  const flood = Array.from({ length: 300 }, () => post(gateway, mallory, initialize()))
  expect((await post(gateway, donna, ping, session)).status).toBe(200)
  const answers = await Promise.all(flood)
  const statuses = new Set(answers.map(({ status }) => status))
  expect([...statuses].sort()).toEqual([200, 429])
  const begun = answers.filter(({ status }) => status === 200).map(({ headers }) => headers.get('mcp-session-id')!)
  expect(new Set(begun).size).toBe(begun.length)
  expect(begun.length).toBeGreaterThan(100)
})

test('a listen request names so many resources', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const listen = (resourceSubscriptions: string[]) => ({
    jsonrpc: '2.0',
    id: 1,
    method: 'subscriptions/listen',
    params: { _meta: meta, notifications: { resourceSubscriptions } },
  })
  const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'subscriptions/listen' }
  const many = Array.from({ length: 5_000 }, (_, at) => `rouse://task/${at}`)
  const answer = await post(gateway, donna, listen(many), headers)
  expect([answer.status, answer.body.error.data.limit]).toEqual([400, 'items'])
  expect((await post(gateway, donna, listen([`rouse://${'x'.repeat(3_000)}`]), headers)).status).toBe(400)
  const long = await post(gateway, donna, listen(many.slice(0, 20).map((uri) => uri.padEnd(2_000, 'x'))), headers)
  expect([long.status, long.body.error.data.limit]).toEqual([400, 'description'])
})

test('a client whose session is gone gets an error, and can open a new session', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  await using one = await connectOld(gateway, donna)
  const headers = { 'mcp-session-id': one.transport.sessionId! }
  await gateway.call('DELETE', '/mcp', undefined, { key: donna.key, headers })
  await expect(one.client.listTools()).rejects.toMatchObject({ code: 404 })
  await using again = await connectOld(gateway, donna)
  expect((await again.client.listTools()).tools.length).toBeGreaterThan(0)
})

test('a reader that takes nothing is notified of each change once, when it reads again', async () => {
  const answered = new Promise<ServerResponse>((resolve) => {
    server.once('request', (_req, res) => resolve(res))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const reader = new Promise<IncomingMessage>((resolve) => {
    get({ port: (server.address() as AddressInfo).port }, resolve)
  })
  const res = await answered
  const notified: string[] = []
  const add = pacedTelling(systemClock, {
    signal: new AbortController().signal,
    tell: (uri) => void notified.push(uri),
    taken: async () => {
      if (res.writableNeedDrain) await once(res, 'drain')
    },
  })
  add(['first'])
  await until(
    () => notified.length,
    (count) => count === 1,
  )
  while (res.write(Buffer.alloc(1_000_000)));
  const slow = await reader
  for (let round = 0; round < 1_000; round++) add(['inbox', `task ${round % 3}`])
  expect(notified).toEqual(['first'])
  slow.resume()
  await until(
    () => notified.length,
    (count) => count > 1,
  )
  expect(notified.slice(1).sort()).toEqual(['inbox', 'task 0', 'task 1', 'task 2'])
  res.end()
  server.close()
})

const server = createServer()
