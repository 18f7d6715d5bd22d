import { describe, expect, test } from 'vitest'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { eventsOf, type Json } from '../wakes/acts.ts'
import { at, beat, begin, end, noon, sessionOf, signalsOf, start } from './sessions.ts'

describe('a session', () => {
  // S2-2, S2-20
  test('starts, is seen, and ends', async () => {
    const clock = new FakeClock(noon)
    await using gateway = await startGateway({ overrides: { clock } })
    const donna = await gateway.addAgent('donna')
    const started = await start(gateway, donna, { capabilities: ['turn/start'], pid: 4711, startedAt: at(noon - 1000) })
    expect(started.status).toBe(201)
    expect(started.body).toEqual({
      sessionId: expect.stringMatching(/^session_[0-9a-f-]{36}$/),
      timeoutSeconds: 300,
      pendingSignals: [],
    })
    const id = started.body.sessionId
    expect(started.headers.get('location')).toBe(`/v1/sessions/${id}`)
    const live = {
      sessionId: id,
      agent: '@donna',
      surface: 'claude_code',
      capabilities: ['turn/start'],
      pid: 4711,
      startedAt: at(noon - 1000),
      status: 'live',
      presence: {
        state: 'unknown',
        source: 'unknown',
        asOf: null,
        ageMs: null,
        lastSeenAt: at(noon),
        capabilities: ['turn/start'],
      },
      lastSeenAt: at(noon),
      actedAt: null,
      createdAt: at(noon),
    }
    expect(await listOf(gateway, donna.key)).toEqual([live])
    clock.advance(30_000)
    const beaten = await beat(gateway, donna, id, { state: 'idle', source: 'mcp-client' })
    expect(beaten.status).toBe(200)
    const presence = {
      state: 'idle',
      source: 'mcp-client',
      asOf: at(noon + 30_000),
      ageMs: 0,
      lastSeenAt: at(noon + 30_000),
      capabilities: ['turn/start'],
    }
    expect(beaten.body).toEqual({ ...live, presence, lastSeenAt: at(noon + 30_000) })
    const over = { status: 'ended', endedAt: at(noon + 30_000), reason: 'ended' }
    expect((await end(gateway, donna, id)).body).toMatchObject({ sessionId: id, ...over })
    expect((await end(gateway, donna, id)).body).toMatchObject({ sessionId: id, ...over })
    expect(await listOf(gateway, donna.key)).toEqual([])
    expect(await listOf(gateway, donna.key, '?status=ended')).toMatchObject([{ sessionId: id, ...over }])
    expect((await beat(gateway, donna, id)).body).toMatchObject({ status: 409, code: 'session-ended', reason: 'ended' })
  })

  test('is in the log, and the other agents are notified', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const lola = await gateway.addAgent('lola')
    const away = await gateway.addAgent('away')
    await begin(gateway, lola)
    const id = await begin(gateway, donna, { surface: 'codex' })
    await end(gateway, donna, id)
    const events = (await eventsOf(gateway)).filter(({ type }) => type.startsWith('peer.'))
    expect(events.slice(1)).toMatchObject([
      { type: 'peer.joined', data: { identity: '@donna', surface: 'codex', sessionId: id } },
      { type: 'peer.left', data: { identity: '@donna', surface: 'codex', sessionId: id, reason: 'ended' } },
    ])
    // S2-7
    expect(await signalsOf(gateway, lola)).toMatchObject([
      { signalType: 'PeerJoined', payload: { identity: '@donna', surface: 'codex', session_id: id } },
      { signalType: 'PeerLeft', payload: { identity: '@donna', surface: 'codex', reason: 'ended' } },
    ])
    expect(await signalsOf(gateway, donna)).toEqual([])
    expect(await signalsOf(gateway, away)).toEqual([])
  })

  // S2-11
  test('returns the waiting mail, once', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    await gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'while you were away' })
    const { body } = await start(gateway, donna)
    expect(body.pendingSignals).toMatchObject([{ subject: 'while you were away', from: '@operator' }])
    expect((await start(gateway, donna)).body.pendingSignals).toEqual([])
  })

  test('outlives the gateway', async () => {
    await using first = await startGateway()
    const donna = await first.addAgent('donna')
    const id = await begin(first, donna, { pid: 1, startedAt: at(noon) })
    await first.stop()
    await using second = await startGateway({ dataDir: first.dataDir })
    expect(await listOf(second, donna.key)).toMatchObject([{ sessionId: id, status: 'live' }])
    expect((await beat(second, donna, id)).status).toBe(200)
  })

  test('ends with its agent', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const id = await begin(gateway, donna)
    await gateway.call('DELETE', '/v1/agents/donna')
    expect(await listOf(gateway, gateway.adminKey)).toEqual([])
    expect((await gateway.call('GET', `/v1/sessions/${id}`)).status).toBe(404)
    expect((await eventsOf(gateway, 'peer.left')).map(({ data }) => data.reason)).toEqual(['removed'])
  })
})

describe('who may see and change a session', () => {
  test('only its agent and the operator', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const mike = await gateway.addAgent('mike')
    const id = await begin(gateway, donna)
    const other = await begin(gateway, mike)
    expect((await listOf(gateway, donna.key)).map((session) => session.sessionId)).toEqual([id])
    const all = (await listOf(gateway, gateway.adminKey)).map((session) => session.sessionId)
    expect(all.sort()).toEqual([id, other].sort())
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const { body } = await gateway.call(method, `/v1/sessions/${id}`, method === 'PUT' ? {} : undefined, mike)
      expect(body).toMatchObject({ status: 404, code: 'session-not-found' })
    }
    expect((await end(gateway, { handle: '@operator', key: gateway.adminKey }, id)).body.status).toBe('ended')
    expect(await sessionOf(gateway, id)).toMatchObject({ status: 'ended', reason: 'ended' })
  })

  test('an operator has none', async () => {
    await using gateway = await startGateway()
    const operator = { handle: '@operator', key: gateway.adminKey }
    expect((await start(gateway, operator)).body).toMatchObject({ status: 403, code: 'forbidden' })
    expect((await listOf(gateway, gateway.adminKey)).length).toBe(0)
  })

  test('ended sessions are listed in pages, newest first', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const ids: string[] = []
    for (let i = 0; i < 5; i++) ids.unshift(await begin(gateway, donna))
    await end(gateway, donna, ids[0]!)
    for (const key of [donna.key, gateway.adminKey]) {
      const seen: string[] = []
      for (let token = '', more = true; more; more = token !== '') {
        const query = `?status=ended&limit=2${token && `&pageToken=${token}`}`
        const { body } = await gateway.call('GET', `/v1/sessions${query}`, undefined, { key })
        seen.push(...body.sessions.map((session: { sessionId: string }) => session.sessionId))
        token = body.nextPageToken
      }
      expect([...seen].sort()).toEqual([...ids].sort())
    }
  })
})

describe('what is refused', () => {
  test.each([
    ['no surface', {}, 'surface'],
    ['an empty surface', { surface: '' }, 'surface'],
    ['a process id that is none', { surface: 'x', pid: 0 }, 'pid'],
    ['a start that is no instant', { surface: 'x', startedAt: 'yesterday' }, 'startedAt'],
    ['capabilities that are no list', { surface: 'x', capabilities: 'turn/start' }, 'capabilities'],
    ['a field of nobody', { surface: 'x', sessionId: 'mine' }, 'sessionId'],
  ])('%s', async (_, body, field) => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const answer = await gateway.call('POST', '/v1/sessions', body, { key: donna.key })
    expect(answer.body).toMatchObject({ status: 400, code: 'invalid-request', field })
  })

  test('an unknown status, and a foreign page token', async () => {
    await using gateway = await startGateway()
    for (const [query, field] of [
      ['status=dead', 'status'],
      ['pageToken=abc', 'pageToken'],
      ['limit=0', 'limit'],
    ])
      expect((await gateway.call('GET', `/v1/sessions?${query}`)).body).toMatchObject({ status: 400, field })
  })
})

async function listOf(gateway: TestGateway, key: TestAgent['key'], query = ''): Promise<Json[]> {
  return (await gateway.call('GET', `/v1/sessions${query}`, undefined, { key })).body.sessions
}
