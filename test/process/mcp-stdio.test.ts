import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as OldStdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { describe, expect, test } from 'vitest'
import { atTestEnd } from '../support/ends.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { startProcessGateway } from '../support/process-gateway.ts'
import { rouseWords } from '../support/program/rouse-words.ts'
import { until } from '../support/until.ts'

const argv = [...rouseWords(), 'mcp']
const whoami = { name: 'whoami', arguments: {} }
const environment = (gateway: { url: string }, { key }: TestAgent): Record<string, string> => ({
  PATH: process.env.PATH ?? '',
  HOME: '/nonexistent',
  ROUSE_URL: gateway.url,
  ROUSE_KEY: key,
})
const live = async (gateway: Pick<TestGateway, 'call'>) => (await gateway.call('GET', '/v1/sessions')).body.sessions
const ended = async (gateway: TestGateway) => (await gateway.call('GET', '/v1/sessions?status=ended')).body.sessions

async function connect(env: Record<string, string>, mode: 'legacy' | 'auto') {
  const transport = new StdioClientTransport({ command: process.execPath, args: argv, env, stderr: 'pipe' })
  const client = new Client({ name: 'a-client', version: '1.0.0' }, { versionNegotiation: { mode } })
  await client.connect(transport)
  atTestEnd(() => client.close())
  return { client, transport }
}

describe('rouse mcp as a process of its own', () => {
  test.each(['legacy', 'auto'] as const)(
    'serves the official client (%s), whose process has the session',
    async (mode) => {
      await using gateway = await startGateway()
      const donna = await gateway.addAgent('donna')
      const { client } = await connect(environment(gateway, donna), mode)
      expect(client.getProtocolEra()).toBe(mode === 'auto' ? 'modern' : 'legacy')
      expect((await client.callTool(whoami)).structuredContent).toMatchObject({ identity: '@donna' })
      expect(await live(gateway)).toMatchObject([{ surface: 'a-client', pid: process.pid }])
      expect((await live(gateway))[0].startedAt).toMatch(/^20\d\d-/)
      await client.close()
      expect(
        await until(
          () => ended(gateway),
          ({ length }) => length > 0,
        ),
      ).toMatchObject([{ reason: 'ended' }])
    },
  )

  test('serves the client of the earlier SDK', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const client = new OldClient({ name: 'an-older-client', version: '1.0.0' })
    const env = environment(gateway, donna)
    await client.connect(new OldStdioClientTransport({ command: process.execPath, args: argv, env, stderr: 'pipe' }))
    atTestEnd(() => client.close())
    expect((await client.callTool(whoami)).isError).toBeUndefined()
    expect((await live(gateway))[0]).toMatchObject({ surface: 'an-older-client' })
  })
})

/** A client that speaks by hand, as a process that can be killed. Its standard error is the pid of `rouse mcp`. */
const client = `
const child = require('node:child_process').spawn(process.execPath, ${JSON.stringify(argv)}, { stdio: ['pipe', 'inherit', 'ignore'] })
process.stderr.write(String(child.pid))
const say = (message) => child.stdin.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n')
say({ id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'codex-mcp-client', version: '1' } } })
say({ method: 'notifications/initialized' })
say({ id: 2, method: 'tools/call', params: { name: 'whoami', arguments: {} } })
setInterval(() => {}, 1000)`

/** Resolves when the client has its session. `stdout`: everything that `rouse mcp` has written. */
async function startByHand(gateway: TestGateway, donna: TestAgent) {
  const child = spawn(process.execPath, ['-e', client], { env: environment(gateway, donna) })
  atTestEnd(() => void child.kill('SIGKILL'))
  const printed = { stdout: '', pid: '' }
  child.stdout.on('data', (text) => (printed.stdout += text))
  child.stderr.on('data', (text) => (printed.pid += text))
  await until(
    async () => printed.stdout,
    (text) => text.includes('"id":2'),
  )
  const server = Number(printed.pid)
  atTestEnd(() => kill(server, 'SIGKILL'))
  return { child, server, printed }
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It has ended.
  }
}

describe('a session ends', () => {
  test('when its client is killed', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const { child, printed } = await startByHand(gateway, donna)
    expect(await live(gateway)).toMatchObject([{ surface: 'codex', pid: child.pid }])
    for (const line of printed.stdout.trim().split('\n')) expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' })
    child.kill('SIGKILL')
    await once(child, 'exit')
    expect(
      await until(
        () => ended(gateway),
        ({ length }) => length > 0,
      ),
    ).toMatchObject([{ reason: 'ended' }])
  })

  test('when the server gets a signal to end', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const { server } = await startByHand(gateway, donna)
    kill(server, 'SIGTERM')
    expect(
      await until(
        () => ended(gateway),
        ({ length }) => length > 0,
      ),
    ).toMatchObject([{ reason: 'ended' }])
  })

  // S4-8
  test('by the silence of a server that was killed', async () => {
    const clock = new FakeClock(Date.now())
    await using gateway = await startGateway({ overrides: { clock } })
    const donna = await gateway.addAgent('donna')
    const { server } = await startByHand(gateway, donna)
    kill(server, 'SIGKILL')
    await clock.advance(301_000)
    await clock.advance(65_000)
    expect(
      await until(
        () => ended(gateway),
        ({ length }) => length > 0,
      ),
    ).toMatchObject([{ reason: 'timeout' }])
  })
})

test('a gateway that is killed and started again is found again by the same server', async () => {
  await using gateway = await startProcessGateway()
  const donna = await gateway.addAgent('donna')
  const { client } = await connect(environment(gateway, donna), 'legacy')
  expect((await client.callTool(whoami)).isError).toBeUndefined()
  const [{ sessionId }] = await live(gateway as unknown as TestGateway)
  await gateway.kill('SIGKILL')
  const away = await client.callTool(whoami)
  expect(away.isError).toBe(true)
  expect(JSON.stringify(away.content)).toContain('cannot be reached')
  await gateway.restart()
  expect((await client.callTool(whoami)).isError).toBeUndefined()
  expect(await live(gateway as unknown as TestGateway)).toMatchObject([{ sessionId }])
})

// S2-14
test('a wait for mail outlives a gateway that is killed and started again, and ends when the client cancels it', async () => {
  await using gateway = await startProcessGateway()
  const donna = await gateway.addAgent('donna')
  const { client } = await connect(environment(gateway, donna), 'legacy')
  await client.callTool(whoami)
  const wait = { name: 'wait_for_messages', arguments: { timeoutSeconds: 50 } }
  const waiting = client.callTool(wait)
  await gateway.kill('SIGKILL')
  await gateway.restart()
  await gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'Hello', wakePolicy: 'immediate' })
  const { structuredContent } = await waiting
  expect(structuredContent).toMatchObject({ arrived: true, pendingSignals: [{ subject: 'Hello' }] })
  const stop = new AbortController()
  const cancelled = client.callTool(wait, { signal: stop.signal })
  stop.abort()
  await expect(cancelled).rejects.toThrow()
  expect((await client.callTool(whoami)).isError).toBeUndefined()
}, 60_000)
