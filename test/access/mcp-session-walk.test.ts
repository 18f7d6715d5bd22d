import { afterAll, beforeAll, expect, test } from 'vitest'
import { mcpOperations } from '../../src/fronts/mcp/http/mcp-table.ts'
import { beginSession, openStream, ping, post } from '../fronts/mcp/http/wire.ts'
import { expected } from './expected.ts'
import { everybody, startWorld, strangers, type Who, type World } from './world.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

const known = everybody.filter((who) => !strangers.includes(who))
const callerOf = (who: Who) => ({ key: world.keyOf(who) ?? '', handle: who })
const on = (method: 'GET' | 'DELETE', who: Who, headers: Record<string, string>) =>
  world.gateway.call(method, '/mcp', undefined, { key: world.keyOf(who), headers })

/** Returns the answer to a caller about a session of its own, by the row of the method. */
function expectedOf(method: 'GET' | 'DELETE', who: Who) {
  const operation = mcpOperations.find(({ route }) => route === `${method} /mcp`)!
  // A row of MCP is about a session of the caller, and every key may have one.
  if (operation.scope === 'any') return strangers.includes(who) ? 'unauthenticated' : 'ok'
  return expected(operation, who, { atHome: true })
}

test('every method of MCP is walked', () => {
  expect(mcpOperations.map(({ route }) => route)).toEqual(['POST /mcp', 'GET /mcp', 'DELETE /mcp'])
})

test('who has a session of its own reads its stream as the row says, and ends it', async () => {
  for (const who of known) {
    const session = await beginSession(world.gateway, callerOf(who))
    const mayListen = expectedOf('GET', who) === 'ok'
    if (mayListen) {
      await using stream = await openStream(world.gateway, callerOf(who), session)
      expect(stream.status, who).toBe(200)
    } else {
      const { status, body } = await on('GET', who, session)
      expect([status, body.error.data.code], who).toEqual([403, 'forbidden'])
    }
    expect((await on('DELETE', who, session)).status, who).toBe(200)
    expect((await post(world.gateway, callerOf(who), ping, session)).status, who).toBe(404)
  }
})

test('a session of donna is hidden from all others, who neither read, use nor end it', async () => {
  const session = await beginSession(world.gateway, world.donna)
  for (const who of everybody.filter((one) => !one.startsWith('donna'))) {
    for (const method of ['GET', 'DELETE'] as const) {
      const { status, body } = await on(method, who, session)
      const isUnknown = strangers.includes(who)
      expect(status, `${who} ${method}: ${JSON.stringify(body)}`).toBe(isUnknown ? 401 : 404)
      expect(JSON.stringify(body), who).not.toMatch(/CANARY|donna/)
    }
    expect((await post(world.gateway, callerOf(who), ping, session)).status, who).toBe(
      strangers.includes(who) ? 401 : 404,
    )
  }
  expect((await post(world.gateway, world.donna, ping, session)).status).toBe(200)
})

test('a session belongs to its agent: other keys of it read its stream as their scopes say, and may end it', async () => {
  for (const who of known.filter((one) => one.startsWith('donna,'))) {
    const session = await beginSession(world.gateway, world.donna)
    if (expectedOf('GET', who) === 'ok') {
      await using stream = await openStream(world.gateway, callerOf(who), session)
      expect(stream.status, who).toBe(200)
    } else expect((await on('GET', who, session)).status, who).toBe(403)
    expect((await on('DELETE', who, session)).status, who).toBe(200)
    expect((await post(world.gateway, world.donna, ping, session)).status, who).toBe(404)
  }
})
