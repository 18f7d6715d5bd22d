import { statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { type Connection, connectionsPath, readConnections, saveConnection } from '../../../src/cli/mcp/connections.ts'
import { atTestEnd } from '../../support/ends.ts'
import { startGateway } from '../../support/gateway.ts'
import { until } from '../../support/until.ts'
import { makeHome } from '../install/homes.ts'
import { startMcpPair } from './start-mcp-pair.ts'

const whoami = { name: 'whoami', arguments: {} }

/** A client that works, and what was noted of it. */
async function connected(era: 'legacy' | 'modern', name: string) {
  const gateway = await startGateway()
  atTestEnd(() => gateway[Symbol.asyncDispose]())
  const { key } = await gateway.addAgent('donna')
  const noted: [string, Omit<Connection, 'at'>][] = []
  const onConnection = (...one: [string, Omit<Connection, 'at'>]) => void noted.push(one)
  const { client } = await startMcpPair(era, { url: gateway.url, key, onConnection }, name)
  return { client, noted, key }
}

test('a client of the 2025 era is noted at the end of the handshake, and its session when it has one', async () => {
  const { client, noted, key } = await connected('legacy', 'claude-code')
  await until(
    () => noted,
    ({ length }) => length === 1,
  )
  expect(noted[0]).toEqual([
    'claude_code',
    { client: 'claude-code 1.0.0', era: '2025', protocolVersion: '2025-11-25', channel: 'declared' },
  ])
  await client.callTool(whoami)
  expect(noted.at(-1)![1].sessionId).toMatch(/^session_/)
  expect(JSON.stringify(noted)).not.toContain(key)
})

test('a client of the 2026 era is noted with its first request, why it has no channel, and what it listens to', async () => {
  const { client, noted } = await connected('modern', 'claude-code')
  expect(noted).toEqual([])
  await client.listen({ resourceSubscriptions: ['rouse://inbox/@donna'] })
  await until(
    () => noted.at(-1)?.[1].listens,
    (listens) => listens !== undefined,
  )
  expect(noted.at(-1)![1]).toMatchObject({
    era: '2026',
    protocolVersion: '2026-07-28',
    channel: 'it is impossible in the era of 2026-07-28',
    listens: ['resourceSubscriptions (1)'],
  })
})

test('the file of a profile is private, has the newest twenty, and is read as nothing where it is damaged', () => {
  using home = makeHome()
  const one = { client: 'codex 1', era: '2025', protocolVersion: '2025-06-18', channel: 'declared' } as const
  for (let n = 0; n < 25; n++) {
    saveConnection(home.env, 'donna', `s${n}`, { ...one, at: `2026-04-26T10:00:${10 + n}.000Z` })
  }
  const path = connectionsPath(home.env, 'donna')!
  expect(path).toBe(join(home.path, '.config/rouse/connections/donna.json'))
  expect([statSync(path).mode & 0o777, statSync(dirname(path)).mode & 0o777]).toEqual([0o600, 0o700])
  const surfaces = [...readConnections(home.env, 'donna').keys()]
  expect([surfaces.length, surfaces.includes('s24'), surfaces.includes('s0')]).toEqual([20, true, false])
  home.write('.config/rouse/connections/donna.json', '{"codex": {"client": 1}, ')
  expect(readConnections(home.env, 'donna').size).toBe(0)
})
