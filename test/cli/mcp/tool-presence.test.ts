import { expect, test } from 'vitest'
import { FakeClock } from '../../support/fake-clock.ts'
import { startGateway, type TestAgent, type TestGateway } from '../../support/gateway.ts'
import { until } from '../../support/until.ts'
import { startMcpPair } from './start-mcp-pair.ts'

const harness = { pid: 4711, startedAt: '2026-04-26T10:00:00.000Z' }

const presenceOf = async (gateway: TestGateway) => (await gateway.call('GET', '/v1/agents/donna')).body.presence
const untilPresence = (gateway: TestGateway, state: string) =>
  until(
    () => presenceOf(gateway),
    (presence) => presence.state === state && presence.asOf !== null,
  )

async function open(gateway: TestGateway, { key }: TestAgent) {
  const clock = new FakeClock()
  return { ...(await startMcpPair('legacy', { url: gateway.url, key, clock }, 'opencode')), clock }
}

const act = (name: string, args: object = {}) => ({ name, arguments: { ...args } })

test('a harness without hooks is active while it calls tools, and unknown after', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const { client, clock } = await open(gateway, donna)
  await client.callTool(act('whoami'))
  expect(await untilPresence(gateway, 'active')).toMatchObject({ source: 'mcp-client' })
  clock.advance(2_000)
  await client.callTool(act('whoami'))
  clock.advance(2_000)
  expect((await presenceOf(gateway)).state).toBe('active')
  clock.advance(1_000)
  expect(await untilPresence(gateway, 'unknown')).toMatchObject({ source: 'mcp-client' })
  await client.callTool(act('whoami'))
  await untilPresence(gateway, 'active')
})

test('a wait for mail is no work', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const { client } = await open(gateway, donna)
  const waiting = client.callTool(act('wait_for_messages', { timeoutSeconds: 60 }))
  await until(
    () => gateway.call('GET', '/v1/sessions'),
    ({ body }) => body.sessions.length === 1,
  )
  await gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'Hello', wakePolicy: 'immediate' })
  await waiting
  expect((await presenceOf(gateway)).asOf).toBeNull()
})

// D12
test('the word of a hook stands, whichever came first', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const { client, clock } = await open(gateway, donna)
  await client.callTool(act('whoami'))
  await untilPresence(gateway, 'active')
  const body = { state: 'waitingOnApproval', source: 'bridge-daemon', process: harness }
  await gateway.call('PUT', '/v1/presence', body, { key: donna.key })
  clock.advance(3_000)
  for (let count = 0; count < 3; count++) {
    await client.callTool(act('whoami'))
    clock.advance(60_000)
  }
  expect(await presenceOf(gateway)).toMatchObject({ state: 'waitingOnApproval', source: 'bridge-daemon' })
})

test('the word of the model itself stands', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const { client, clock } = await open(gateway, donna)
  await client.callTool(act('set_presence', { state: 'userTyping' }))
  await client.callTool(act('whoami'))
  clock.advance(3_000)
  await client.callTool(act('whoami'))
  expect(await presenceOf(gateway)).toMatchObject({ state: 'userTyping' })
})

// S1-8
test('the gateway lets a sign of life of an MCP client replace only its like', async () => {
  await using gateway = await startGateway()
  const { key } = await gateway.addAgent('donna')
  const { body } = await gateway.call('POST', '/v1/sessions', { surface: 'opencode' }, { key })
  const beat = async (state: string, source: string) =>
    (await gateway.call('PUT', `/v1/sessions/${body.sessionId}`, { presence: { state, source } }, { key })).body
      .presence
  expect(await beat('active', 'mcp-client')).toMatchObject({ state: 'active', source: 'mcp-client' })
  expect(await beat('unknown', 'mcp-client')).toMatchObject({ state: 'unknown', source: 'mcp-client' })
  expect(await beat('idle', 'bridge-daemon')).toMatchObject({ state: 'idle', source: 'bridge-daemon' })
  expect(await beat('active', 'mcp-client')).toMatchObject({ state: 'idle', source: 'bridge-daemon' })
  expect(await beat('active', 'codex-app-server')).toMatchObject({ state: 'active', source: 'codex-app-server' })
})
