import { afterAll, beforeAll, expect, test } from 'vitest'
import { mcpOperations } from '../../src/fronts/mcp/http/mcp-table.ts'
import { beginSession, initialize, ping } from '../fronts/mcp/http/wire.ts'
import { everybody, startWorld, type Who, type World } from './world.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

const accept = { accept: 'application/json, text/event-stream' }
const strangers: readonly Who[] = ['nobody', 'unknown key', 'revoked key', 'expired key']
const callAs = (who: Who, method: string, body?: unknown, headers: Record<string, string> = {}) =>
  world.gateway.call(method, '/mcp', body, { key: world.keyOf(who), headers: { ...accept, ...headers } })

test('nobody without a key is let in, and everybody with one has sessions of its own', async () => {
  for (const { route } of mcpOperations) {
    const [method = ''] = route.split(' ')
    for (const who of strangers) expect((await callAs(who, method)).status, `${method} ${who}`).toBe(401)
  }
  for (const who of everybody.filter((one) => !strangers.includes(one))) {
    expect((await callAs(who, 'POST', initialize())).status, who).toBe(200)
  }
})

test('a session of donna answers no other caller', async () => {
  const session = await beginSession(world.gateway, world.donna)
  const others = everybody.filter((who) => !strangers.includes(who) && !who.startsWith('donna'))
  for (const who of others) {
    for (const method of ['GET', 'POST', 'DELETE']) {
      const { status, body } = await callAs(who, method, method === 'POST' ? ping : undefined, session)
      expect([status, body.error.code], `${method} ${who}`).toEqual([404, -32001])
    }
  }
  const tools = { ...ping, method: 'tools/call', params: { name: 'whoami', arguments: {} } }
  expect((await callAs('donna', 'POST', tools, session)).body.result.structuredContent.identity).toBe('@donna')
})

test('a stream needs the scope read', async () => {
  const session = await beginSession(world.gateway, world.donna)
  const { status, body } = await callAs('donna, mint only', 'GET', undefined, session)
  expect([status, body.error.data.code]).toEqual([403, 'forbidden'])
})
