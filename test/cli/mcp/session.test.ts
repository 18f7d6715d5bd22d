import { describe, expect, test } from 'vitest'
import { FakeClock } from '../../support/fake-clock.ts'
import { startGateway, type TestAgent, type TestGateway } from '../../support/gateway.ts'
import { until } from '../../support/until.ts'
import { serveOnPair, startMcpPair } from './start-mcp-pair.ts'

const live = async (gateway: TestGateway) => (await gateway.call('GET', '/v1/sessions')).body.sessions
const ended = async (gateway: TestGateway) => (await gateway.call('GET', '/v1/sessions?status=ended')).body.sessions
const access = (gateway: TestGateway, { key }: TestAgent) => ({ url: gateway.url, key })
const untilLive = (gateway: TestGateway) =>
  until(
    () => live(gateway),
    ({ length }) => length === 1,
  )

describe.each(['legacy', 'modern'] as const)('the session of a client of the %s era', (era) => {
  // S2-2, D12
  test('begins with its first work, belongs to the process of the harness, and ends with the connection', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const { client, close } = await startMcpPair(era, access(gateway, donna), 'codex-mcp-client')
    expect(await live(gateway)).toEqual([])
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toContain('whoami')
    const [session] = await untilLive(gateway)
    expect(session).toMatchObject({ surface: 'codex', pid: 4711, startedAt: '2026-04-26T10:00:00.000Z' })
    await close()
    expect(await live(gateway)).toEqual([])
    expect(await ended(gateway)).toMatchObject([{ sessionId: session.sessionId, reason: 'ended' }])
  })

  test('a call is made in it, and its answer has the mail that waited', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    await gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'Hello', wakePolicy: 'next_turn' })
    const { client } = await startMcpPair(era, access(gateway, donna))
    await client.listTools()
    await untilLive(gateway)
    const result = await client.callTool({ name: 'whoami', arguments: {} })
    expect(result.isError).toBeUndefined()
    expect(JSON.stringify(result)).toContain('Hello')
  })
})

test('a client that only looks what the server speaks starts no session', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const { client, close } = await startMcpPair('modern', access(gateway, donna))
  await client.close()
  await close()
  expect(await live(gateway)).toEqual([])
  expect(await ended(gateway)).toEqual([])
})

test('signs of life keep it, as often as the gateway wants them', async () => {
  const clock = new FakeClock(Date.now())
  await using gateway = await startGateway({ overrides: { clock } })
  const donna = await gateway.addAgent('donna')
  const { client } = await startMcpPair('legacy', { ...access(gateway, donna), beatMs: 5 })
  await client.listTools()
  const [session] = await untilLive(gateway)
  await clock.advance(60_000)
  await until(
    () => live(gateway),
    ([now]) => now.lastSeenAt > session.lastSeenAt,
  )
})

test('a session that has ended begins again with the next call', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const { client } = await startMcpPair('legacy', access(gateway, donna))
  await client.callTool({ name: 'whoami', arguments: {} })
  const [first] = await live(gateway)
  await gateway.call('DELETE', `/v1/sessions/${first.sessionId}`)
  const result = await client.callTool({ name: 'whoami', arguments: {} })
  expect(result.isError).toBeUndefined()
  expect((await live(gateway))[0].sessionId).not.toBe(first.sessionId)
})

describe('two processes with one identity', () => {
  const newer = { pid: 4712, startedAt: '2026-04-26T10:00:01.000Z' }

  // D12, D26
  test('the older one says who speaks for the agent, takes nothing back, and goes on when the newer one has left', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const older = await startMcpPair('legacy', access(gateway, donna))
    await older.client.callTool({ name: 'whoami', arguments: {} })
    const other = await startMcpPair('legacy', { ...access(gateway, donna), process: newer })
    await other.client.callTool({ name: 'whoami', arguments: {} })
    for (const reason of [/preempted/, /started later/]) {
      const { isError, content } = await older.client.callTool({ name: 'whoami', arguments: {} })
      expect(isError).toBe(true)
      expect(JSON.stringify(content)).toMatch(reason)
    }
    expect(await live(gateway)).toMatchObject([{ pid: 4712 }])
    expect((await other.client.callTool({ name: 'whoami', arguments: {} })).isError).toBeUndefined()
    await other.close()
    expect((await older.client.callTool({ name: 'whoami', arguments: {} })).isError).toBeUndefined()
  })

  test('one that does not know when its harness started gives way for good', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const first = await startMcpPair('legacy', { ...access(gateway, donna), process: { pid: 1 } })
    await first.client.callTool({ name: 'whoami', arguments: {} })
    const second = await startMcpPair('legacy', { ...access(gateway, donna), process: { pid: 2 } })
    await second.client.callTool({ name: 'whoami', arguments: {} })
    for (let count = 0; count < 2; count++) {
      expect((await first.client.callTool({ name: 'whoami', arguments: {} })).isError).toBe(true)
    }
    expect(await live(gateway)).toMatchObject([{ pid: 2 }])
  })

  test('a hook and the server of one harness have one session', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const harness = { pid: 4711, startedAt: '2026-04-26T10:00:00.000Z' }
    const body = { surface: 'claude_code', ...harness, drain: false }
    const { body: hook } = await gateway.call('POST', '/v1/sessions', body, { key: donna.key })
    const { client } = await startMcpPair('legacy', access(gateway, donna), 'claude-code')
    await client.callTool({ name: 'whoami', arguments: {} })
    expect(await live(gateway)).toMatchObject([{ sessionId: hook.sessionId }])
  })
})

describe('the conversation of the harness', () => {
  test('Claude Code names it in the environment, and its directory is known', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const env = { CLAUDE_CODE_SESSION_ID: '0b6f' }
    const { client } = await startMcpPair('legacy', { ...access(gateway, donna), env, cwd: '/home/u/p' }, 'claude-code')
    await client.callTool({ name: 'whoami', arguments: {} })
    expect(await live(gateway)).toMatchObject([{ harness: { cwd: '/home/u/p', sessionId: '0b6f' } }])
  })

  test('Codex names its thread in each call of a tool', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const fields = { ...access(gateway, donna), env: { CLAUDE_CODE_SESSION_ID: '0b6f' }, cwd: `/${'x'.repeat(1_000)}` }
    const { client } = await startMcpPair('legacy', fields, 'codex-mcp-client')
    await client.listTools()
    expect((await untilLive(gateway))[0].harness).toBeUndefined()
    await client.callTool({ name: 'whoami', arguments: {}, _meta: { threadId: '019a-thread' } })
    await until(
      () => live(gateway),
      ([session]) => session.harness?.sessionId === '019a-thread',
    )
  })
})

// The session is being started when the call names the thread.
test.each(['legacy', 'modern'] as const)(
  'Codex binds its thread with its first work too, in the %s era',
  async (era) => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const { client } = await startMcpPair(era, access(gateway, donna), 'codex-mcp-client')
    await client.callTool({ name: 'whoami', arguments: {}, _meta: { threadId: '019a-thread' } })
    await until(
      () => live(gateway),
      ([session]) => session.harness?.sessionId === '019a-thread',
      3_000,
    )
  },
)

test('an operator works without a session', async () => {
  await using gateway = await startGateway()
  const { client } = await startMcpPair('legacy', { url: gateway.url, key: gateway.adminKey })
  const result = await client.callTool({ name: 'whoami', arguments: {} })
  expect(result.isError).toBeUndefined()
  expect(await live(gateway)).toEqual([])
})

test('without a word of the client it ends with its signal', async () => {
  const stop = new AbortController()
  const { close } = serveOnPair({ url: 'http://127.0.0.1:1', key: 'k', signal: stop.signal })
  stop.abort()
  await close()
})
