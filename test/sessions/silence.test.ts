import { describe, expect, test, vi } from 'vitest'
import { silentLogger } from '../../src/logger/logger.ts'
import { operator } from '../../src/registry/callers/caller.ts'
import type { Announcement } from '../../src/registry/mail/announcement.ts'
import { endSilentSession, findSession } from '../../src/registry/sessions/session-store.ts'
import { SessionActivity } from '../../src/sessions/activity.ts'
import { endSilentSessions } from '../../src/sessions/end-silent-sessions.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'
import { SetClock } from '../support/set-clock.ts'
import { openStore } from '../support/store.ts'
import { until } from '../support/until.ts'
import { advanceUntil, eventsOf, stateOf } from '../wakes/acts.ts'
import { at, beat, begin, minute, noon, sessionOf, signalsOf, start } from './sessions.ts'

const process = { pid: 1, startedAt: at(noon) }

describe('a session that is silent too long', () => {
  // S4-8
  test('ends with the reason, and the other agents are notified', async () => {
    const clock = new FakeClock(noon)
    await using gateway = await startGateway({ overrides: { clock } })
    const donna = await gateway.addAgent('donna')
    const lola = await gateway.addAgent('lola')
    const other = await begin(gateway, lola)
    const id = await begin(gateway, donna, process)
    const beatOther = async () => {
      await beat(gateway, lola, other)
      return sessionOf(gateway, id)
    }
    const over = await advanceUntil(clock, minute, beatOther, ({ status }) => status === 'ended')
    expect(over).toMatchObject({ reason: 'timeout' })
    expect(Date.parse(over.endedAt) - noon).toBeGreaterThan(5 * minute)
    expect((await beat(gateway, donna, id)).body).toMatchObject({ code: 'session-ended', reason: 'timeout' })
    const payload = { identity: '@donna', surface: 'claude_code', reason: 'timeout' }
    expect((await eventsOf(gateway, 'peer.left')).map(({ data }) => data)).toEqual([{ ...payload, sessionId: id }])
    expect((await signalsOf(gateway, lola)).at(-1)).toMatchObject({ signalType: 'PeerLeft', payload })
    expect((await sessionOf(gateway, other)).status).toBe('live')
  })

  test('continues when its process returns, and so do its subscriptions', async () => {
    const clock = new FakeClock(noon)
    await using gateway = await startGateway({ overrides: { clock } })
    await using receiver = await startReceiver()
    const donna = await gateway.addAgent('donna')
    const id = await begin(gateway, donna, process)
    const input = {
      trigger: 'TASK_STATE_CHANGED',
      sessionId: id,
      harnessTargetMetadata: { url: receiver.url, coalesceWindow: 0 },
    }
    const { body: sub } = await gateway.call('POST', '/v1/wake-subscriptions', input, { key: donna.key })
    await advanceUntil(
      clock,
      minute,
      () => sessionOf(gateway, id),
      ({ status }) => status === 'ended',
    )
    const paused = { status: 'paused', reason: 'session timeout' }
    expect(await stateOf(gateway, donna, sub.subscriptionId)).toMatchObject(paused)
    await gateway.send('donna', 'one')
    await gateway.send('donna', 'two')
    const { status, body } = await start(gateway, donna, { ...process, drain: false })
    expect([status, body.sessionId]).toEqual([200, id])
    expect(await sessionOf(gateway, id)).toMatchObject({ status: 'live' })
    const [wake] = await receiver.waitFor(1)
    expect(wake!.body).toMatchObject({ eventType: 'wake/digest', payload: { eventCount: 2 } })
    expect((await eventsOf(gateway, 'peer.joined')).length).toBe(2)
  })

  test('gets a minute after a start of the gateway, because no gateway could record a sign of life before', async () => {
    const clock = new FakeClock(noon)
    await using first = await startGateway({ overrides: { clock } })
    const donna = await first.addAgent('donna')
    const id = await begin(first, donna)
    await first.stop()
    const later = new FakeClock(noon + 60 * minute)
    await using second = await startGateway({ dataDir: first.dataDir, overrides: { clock: later } })
    later.advance(59_000)
    expect((await beat(second, donna, id)).status).toBe(200)
    later.advance(2 * minute)
    expect((await sessionOf(second, id)).status).toBe('live')
  })

  // S4-8
  test('gets a minute after the machine slept or its clock jumped, then the time-out again', async () => {
    const clock = new SetClock()
    await using gateway = await startGateway({ overrides: { clock, steady: () => clock.steady.now() } })
    const donna = await gateway.addAgent('donna')
    const lola = await gateway.addAgent('lola')
    const [quick, gone] = [await begin(gateway, donna), await begin(gateway, lola)]
    clock.steady.advance(2 * minute)
    clock.set(60 * minute)
    clock.steady.advance(50_000)
    expect((await beat(gateway, donna, quick)).status).toBe(200)
    await advanceUntil(
      clock.steady,
      5_000,
      () => sessionOf(gateway, gone),
      ({ status }) => status === 'ended',
    )
    expect(await sessionOf(gateway, quick)).toMatchObject({ status: 'live' })
  })

  test('has the timeout of the configuration', async () => {
    const clock = new FakeClock(noon)
    await using gateway = await startGateway({ env: { ROUSE_SESSION_TIMEOUT: '90' }, overrides: { clock } })
    const donna = await gateway.addAgent('donna')
    const id = await begin(gateway, donna)
    const over = await advanceUntil(
      clock,
      5_000,
      () => sessionOf(gateway, id),
      ({ status }) => status === 'ended',
    )
    expect(Date.parse(over.endedAt) - noon).toBeLessThan(5 * minute)
  })
})

describe('a sign of life', () => {
  // S4-8
  test('is any call of the agent, by REST and by A2A, and costs no write after a recent one', async () => {
    const clock = new FakeClock(noon)
    await using gateway = await startGateway({ overrides: { clock } })
    const donna = await gateway.addAgent('donna')
    await gateway.addAgent('lola')
    const id = await begin(gateway, donna)
    const seenAt = async () => (await sessionOf(gateway, id)).lastSeenAt
    clock.advance(10_000)
    await gateway.call('GET', '/v1/tasks', undefined, { key: donna.key })
    expect(await seenAt()).toBe(at(noon))
    clock.advance(20_000)
    await gateway.call('GET', '/v1/tasks', undefined, { key: donna.key })
    await until(seenAt, (seen) => seen === at(noon + 30_000))
    clock.advance(20_000)
    await gateway.send('lola', 'hello', { key: donna.key })
    await until(seenAt, (seen) => seen === at(noon + 50_000))
    clock.advance(20_000)
    await gateway.call('GET', '/v1/tasks')
    expect(await seenAt()).toBe(at(noon + 50_000))
  })

  test('is no call of a program beside the harness: a killed harness times out, however busy its bridge is', async () => {
    const clock = new FakeClock(noon)
    await using gateway = await startGateway({ overrides: { clock } })
    const donna = await gateway.addAgent('donna')
    const id = await begin(gateway, donna)
    const account = { startedAt: at(noon), starts: 1, restart: 'none', seen: false }
    const asBridge = { key: donna.key, headers: { 'Rouse-Pending-Signals': 'none' } }
    for (let n = 0; n < 12; n++) {
      clock.advance(30_000)
      await gateway.call('PUT', '/v1/recovery/bridge', account, asBridge)
      await gateway.call('GET', '/v1/tasks', undefined, asBridge)
      await gateway.call('POST', '/v1/turns', { eventId: 'x', route: 'exec' }, { key: donna.key })
    }
    const ended = await until(
      () => sessionOf(gateway, id),
      ({ status }) => status === 'ended',
    )
    expect(ended).toMatchObject({ reason: 'timeout', lastSeenAt: at(noon) })
  })

  test('of an agent without a session writes nothing', async () => {
    await using gateway = await startGateway()
    await gateway.stop()
    const clock = new FakeClock(noon)
    await using db = await openStore(gateway.dataDir, clock)
    const write = vi.spyOn(db, 'transaction')
    const activity = new SessionActivity({ db, clock, log: silentLogger })
    activity.saw({ ...operator, kind: 'agent', id: 'agent_x', identity: '@donna' }, true)
    await activity.settled()
    expect(write).not.toHaveBeenCalled()
  })
})

test('of several gateways that sweep at once only one announces the end', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const mike = await gateway.addAgent('mike')
  await begin(gateway, donna)
  await begin(gateway, mike)
  await gateway.stop()
  const clock = new FakeClock(Date.now() + 10 * minute)
  await using db = await openStore(gateway.dataDir, clock)
  const announced: Announcement[] = []
  const context = {
    db,
    clock,
    log: silentLogger,
    append: async () => [],
    silenceUntil: (now: number) => now,
    timeoutMs: 5 * minute,
    drain: async () => [],
    hasWaiting: async () => false,
    announce: async (_: unknown, announcement: Announcement) => void announced.push(announcement),
    changed: () => {},
  }
  const ended = await Promise.all(Array.from({ length: 4 }, () => endSilentSessions(context)))
  expect(ended.reduce((sum, count) => sum + count)).toBe(2)
  expect(announced.map(({ payload }) => payload.identity).sort()).toEqual(['@donna', '@mike'])
})

test('a session that gives a sign of life during the sweep is not ended', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const id = await begin(gateway, donna)
  await gateway.stop()
  await using db = await openStore(gateway.dataDir, new FakeClock(Date.now()))
  expect(await db.transaction((tx) => endSilentSession(tx, id, Date.now() - minute))).toBe(false)
  expect(await findSession(db, id)).toMatchObject({ endedAt: null })
  expect(await db.transaction((tx) => endSilentSession(tx, id, Date.now() + minute))).toBe(true)
  expect(await db.transaction((tx) => endSilentSession(tx, id, Date.now() + minute))).toBe(false)
})
