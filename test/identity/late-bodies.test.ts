import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/lib/json.ts'
import { toolCall } from '../fronts/mcp/http/call-tool.ts'
import { beginSession, post } from '../fronts/mcp/http/wire.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { halfSent } from '../support/half-sent.ts'
import { type Issuer, startIssuer } from '../support/issuer.ts'
import { besideStore } from '../support/store.ts'
import { until } from '../support/until.ts'
import { startTrusting } from './trusting.ts'

// The attack: a request whose key is good when it begins, and whose body arrives after the key has expired.

/** The time that the credentials here are accepted, in ms: less than until a sweep ends an expired key as a revocation does. */
const lifeMs = 10_000

const sent = {
  message: { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'late' }] },
  configuration: { returnImmediately: true },
}
const mail = { to: '@mike', subject: 'late' }
const tool = toolCall('send_message', mail)

/** A request of each front that reaches mike: its path, body and headers. */
const requests: Record<string, [path: string, body: JsonObject, headers: Record<string, string>]> = {
  REST: ['/v1/messages', mail, {}],
  'JSON-RPC': [
    '/agents/mike',
    { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: sent },
    { 'a2a-version': '1.0' },
  ],
  'HTTP+JSON': ['/agents/mike/message:send', sent, { 'a2a-version': '1.0' }],
  MCP: ['/mcp', tool.body, tool.headers],
}

/** Credentials of donna's that expire together. */
const credentials = {
  key: async (gateway: TestGateway) =>
    (await gateway.call('POST', '/v1/agents/donna/keys', { expiresInSeconds: lifeMs / 1000 })).body.apiKey as string,
  token: (_: TestGateway, clock: FakeClock, issuer: Issuer) => tokenOf(clock, issuer),
}

/** Clocks may differ by 30 seconds. */
const tokenOf = (clock: FakeClock, issuer: Issuer) =>
  issuer.sign({ exp: (clock.now() + lifeMs) / 1000 - 30 }, { now: clock.now() })

const toMike = async (gateway: TestGateway) =>
  (await gateway.call('GET', '/v1/inbox?agent=@mike')).body.messages as JsonObject[]

describe.each(Object.entries(requests))('a request over %s whose body arrives late', (_, [path, body, headers]) => {
  test.each(Object.entries(credentials))(
    'is carried out while its %s is good, and does nothing after',
    async (_, make) => {
      const clock = new FakeClock()
      await using issuer = await startIssuer()
      await using gateway = await startTrusting(issuer, {}, { overrides: { clock } })
      for (const handle of ['donna', 'mike']) await gateway.addAgent(handle)
      const key = await make(gateway, clock, issuer)
      using inTime = await halfSent(gateway, path, key, body, headers)
      using late = await halfSent(gateway, path, key, body, headers)
      expect(await inTime.finish('\r\n\r\n{')).toMatch(/HTTP\/1\.1 20[01]/)
      const before = await toMike(gateway)
      expect(before).toHaveLength(1)
      clock.advance(lifeMs)
      expect(await late.finish('expired')).toContain('HTTP/1.1 401')
      expect(await toMike(gateway)).toEqual(before)
    },
  )
})

test('the messages of a batch after the end of its token do nothing', async () => {
  const clock = new FakeClock()
  await using issuer = await startIssuer()
  await using gateway = await startTrusting(issuer, {}, { overrides: { clock } })
  for (const handle of ['donna', 'mike']) await gateway.addAgent(handle)
  const donna = { handle: '@donna', key: await tokenOf(clock, issuer) }
  const session = await beginSession(gateway, donna, { protocolVersion: '2025-03-26' })
  const call = (id: number, name: string, args: object) => ({
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: { name, arguments: args },
  })
  const batch = [call(1, 'wait_for_messages', { timeoutSeconds: 20 }), call(2, 'send_message', mail)]
  let hasAnswer = false
  const answer = post(gateway, donna, batch, session).finally(() => {
    hasAnswer = true
  })
  // The first call of a tool starts a session.
  await until(
    () => besideStore(gateway.dataDir, 'select id from session'),
    ({ length }) => length > 0,
  )
  await until(
    () => {
      clock.advance(1_000)
      return hasAnswer
    },
    (has) => has,
  )
  const { body } = await answer
  // A wait ends with its token, and the request that it began in is answered.
  expect(body[0]).toMatchObject({ id: 1, result: { isError: true } })
  expect(body[0].result.content[0].text).toMatch(/expired/)
  expect(body[1]).toMatchObject({ id: 2, error: { data: { code: 'unauthenticated' } } })
  expect(await toMike(gateway)).toEqual([])
})

test('a key that another gateway has revoked while the body arrived registers no agent', async () => {
  await using gateway = await startGateway()
  const { operatorKey, keyId } = (await gateway.call('POST', '/v1/operator-keys', { role: 'manager' })).body
  await using call = await halfSent(gateway, '/v1/agents', operatorKey, { handle: 'late' })
  // No message of it has come here.
  await besideStore(gateway.dataDir, 'update operator_key set revoked_at = 1 where id = ?', keyId)
  expect(await call.finish('unauthenticated')).toContain('401')
  expect((await gateway.call('GET', '/v1/agents/late')).status).toBe(404)
})
