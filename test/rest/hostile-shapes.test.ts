import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { restTable } from '../../src/fronts/rest/table.ts'
import { liftRates, startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { servedMs } from '../support/served-time.ts'

const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels)

let gateway: TestGateway
let mallory: TestAgent

beforeAll(async () => {
  gateway = await startGateway()
  // The test measures the work of the gateway, not the wait for an allowance.
  await liftRates(gateway)
  mallory = await gateway.addAgent('mallory')
})

afterAll(() => gateway[Symbol.asyncDispose]())

describe('a body that nests too deeply', () => {
  /** Every route of REST that changes something, with and without a schema for its body. */
  const routes = restTable.routes.map(({ route }) => route).filter((route) => !route.startsWith('GET '))

  test('is refused by every REST route that takes one, with the limit', async () => {
    expect(routes.length).toBeGreaterThan(30)
    const { body: made } = await gateway.call('POST', '/v1/operator-keys', {
      role: 'manager',
      label: 'anna',
      approve: true,
    })
    const person = made.operatorKey
    for (const route of routes) {
      const [method, path] = route.replaceAll(/:\w+/g, 'mallory').split(' ') as [string, string]
      const answers: unknown[] = []
      // Some routes are for operators alone, others for agents. Who may not call a route is refused before its body is read.
      for (const key of [gateway.adminKey, mallory.key, person]) {
        for (const body of [nested(4183), `{"artifact":{"parts":[{"data":${nested(4183)}}]}}`]) {
          const { status, body: problem } = await gateway.call(method, path, body, { key })
          if (status !== 403) answers.push([route, status, problem.code, problem.limit])
        }
      }
      expect(answers.length, route).toBeGreaterThan(0)
      for (const answer of answers) expect(answer).toEqual([route, 400, 'invalid-request', 'depth'])
    }
    // Nothing was changed.
    expect((await gateway.call('GET', '/v1/agents/mallory')).status).toBe(200)
    expect((await gateway.call('GET', '/v1/whoami', undefined, { key: mallory.key })).status).toBe(200)
  })

  test('is refused over JSON-RPC and HTTP+JSON alike', async () => {
    const message = `{"messageId":"m","role":"ROLE_USER","parts":[{"data":${nested(4185)}}]}`
    const rpc = `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":${message}}}`
    const headers = { 'A2A-Version': '1.0' }
    const overRpc = await gateway.call('POST', '/agents/mallory', rpc, { key: mallory.key, headers })
    expect(overRpc.body.error).toMatchObject({ code: -32600, message: expect.stringContaining('64 levels') })
    const overRest = await gateway.call('POST', '/agents/mallory/message:send', `{"message":${message}}`, {
      key: mallory.key,
      headers,
    })
    expect([overRest.status, overRest.body.error.status]).toEqual([400, 'INVALID_ARGUMENT'])
  })
})

test('too many parts are refused before they are checked', async () => {
  const parts = `[${'{},'.repeat(99_999)}{}]`
  const body = `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":${parts}}}}`
  const answer = await gateway.call('POST', '/agents/mallory', body, {
    key: mallory.key,
    headers: { 'A2A-Version': '1.0' },
  })
  expect(answer.body.error.message).toContain('20000 values')
})

test('a body in another encoding than UTF-8 is refused: its shape cannot be seen', async () => {
  const { status } = await gateway.call(
    'POST',
    '/v1/messages',
    Buffer.from('{"to":"@mallory"}', 'utf16le').toString('latin1'),
    {
      headers: { 'content-type': 'application/json; charset=utf-16le' },
    },
  )
  expect(status).toBe(415)
})

test('a URL of 200,000 dots is refused by its length, at once', async () => {
  const url = `http://${'.'.repeat(200_000)}a/`
  const params = {
    message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'x' }] },
    configuration: { returnImmediately: true, taskPushNotificationConfig: { url } },
  }
  const body = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params }
  const start = servedMs()
  const answer = await gateway.call('POST', '/agents/mallory', body, {
    key: mallory.key,
    headers: { 'A2A-Version': '1.0' },
  })
  expect(answer.body.error.message).toContain('longer than 2048 characters')
  expect(servedMs() - start).toBeLessThan(2_000)
})
