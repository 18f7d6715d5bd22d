import { describe, expect, test } from 'vitest'
import { presenceSources, presenceStates } from '../../src/words/presence.ts'
import { at, beat, begin, end, minute, noon, say } from '../sessions/sessions.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway } from '../support/gateway.ts'

describe('what a harness is doing', () => {
  // S1-8
  test('is read by the team, with its source and its age', async () => {
    const clock = new FakeClock(noon)
    await using gateway = await startGateway({ overrides: { clock } })
    const donna = await gateway.addAgent('donna')
    const lola = await gateway.addAgent('lola')
    const read = async () => (await gateway.call('GET', '/v1/agents/donna', undefined, { key: lola.key })).body
    const nobody = { state: 'unknown', source: 'unknown', asOf: null, ageMs: null }
    expect(await read()).toMatchObject({ presence: nobody, session: null })
    const sessionId = await begin(gateway, donna, { surface: 'codex' })
    const session = { sessionId, surface: 'codex', capabilities: [], lastSeenAt: at(noon) }
    expect(await read()).toMatchObject({ presence: nobody, session })
    const report = { state: 'active', source: 'codex-app-server', activeTurnId: 'turn_7' }
    const said = await say(gateway, donna, { ...report, capabilities: ['turn/start', 'turn/steer'] })
    expect(said.status).toBe(200)
    // S1-8
    const capabilities = ['turn/start', 'turn/steer']
    expect(said.body).toEqual({ sessionId, ...report, asOf: at(noon), ageMs: 0, lastSeenAt: at(noon), capabilities })
    clock.advance(90_000)
    const capable = { ...session, capabilities: ['turn/start', 'turn/steer'] }
    const presence = { ...report, asOf: at(noon), ageMs: 90_000 }
    expect(await read()).toMatchObject({ presence, session: capable })
    const { body } = await gateway.call('GET', '/v1/agents', undefined, { key: lola.key })
    expect(body.agents).toMatchObject([{ handle: '@donna', presence, session: capable }, { presence: nobody }])
  })

  // S1-9
  test('is unknown when the last report is too old, even if the session is live', async () => {
    const clock = new FakeClock(noon)
    await using gateway = await startGateway({ overrides: { clock } })
    const donna = await gateway.addAgent('donna')
    const id = await begin(gateway, donna)
    await say(gateway, donna, { state: 'idle', source: 'mcp-client' })
    clock.advance(2 * minute + 1)
    const { presence } = (await beat(gateway, donna, id)).body
    expect(presence).toMatchObject({ state: 'unknown', source: 'mcp-client', asOf: at(noon), ageMs: 2 * minute + 1 })
    const again = await beat(gateway, donna, id, { state: 'userTyping', source: 'os-ui-probe' })
    expect(again.body.presence).toMatchObject({ state: 'userTyping', source: 'os-ui-probe', ageMs: 0 })
  })

  test('keeps capabilities that a report does not name', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const id = await begin(gateway, donna, { capabilities: ['has-telegram'] })
    await say(gateway, donna, { state: 'idle', source: 'mcp-client' })
    expect((await beat(gateway, donna, id)).body.capabilities).toEqual(['has-telegram'])
    await say(gateway, donna, { state: 'idle', source: 'mcp-client', capabilities: [] })
    expect((await beat(gateway, donna, id)).body.capabilities).toEqual([])
  })

  test('accepts every state and every source', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    await begin(gateway, donna)
    for (const state of presenceStates) {
      for (const source of presenceSources) {
        const { status, body } = await say(gateway, donna, { state, source })
        expect([status, body.state, body.source]).toEqual([200, state, source])
      }
    }
  })
})

describe('a word that is refused', () => {
  test.each([
    ['a state of nobody', { state: 'busy', source: 'mcp-client' }, 'state'],
    ['a source of nobody', { state: 'idle', source: 'me' }, 'source'],
    ['no source', { state: 'idle' }, 'source'],
    ['a turn without one that runs', { state: 'idle', source: 'mcp-client', activeTurnId: 't' }, 'activeTurnId'],
    ['a field of nobody', { state: 'idle', source: 'mcp-client', since: 'now' }, 'since'],
  ])('%s', async (_, body, field) => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const id = await begin(gateway, donna)
    expect((await say(gateway, donna, body)).body).toMatchObject({ status: 400, code: 'invalid-request', field })
    expect((await beat(gateway, donna, id, body)).body).toMatchObject({ status: 400, field: `presence.${field}` })
  })

  test('a report without a live session', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const word = { state: 'idle', source: 'mcp-client' }
    expect((await say(gateway, donna, word)).body).toMatchObject({ status: 404, code: 'session-not-found' })
    await end(gateway, donna, await begin(gateway, donna))
    expect((await say(gateway, donna, word)).status).toBe(404)
    const operator = { handle: '@operator', key: gateway.adminKey }
    expect((await say(gateway, operator, word)).body).toMatchObject({ status: 403, code: 'forbidden' })
    expect((await gateway.call('GET', '/v1/presence')).body).toMatchObject({ status: 405, allowed: ['PUT'] })
  })
})
