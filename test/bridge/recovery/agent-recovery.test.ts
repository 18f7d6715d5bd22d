import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import type { UsageLimit } from '../../../src/bridge/adapter.ts'
import { processStart } from '../../../src/bridge/processes.ts'
import { Parking } from '../../../src/bridge/recovery/parking.ts'
import { RecoveryCalls } from '../../../src/bridge/recovery/recovery-calls.ts'
import { createGatewayClient } from '../../../src/client/gateway-client.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { until } from '../../support/until.ts'
import { openPlace, startBridge } from '../run/bridge-desk.ts'
import { RecoveryStub } from './recovery-stub.ts'

const accountMs = 50

test('a bridge reports an account of itself that survives its restart', async () => {
  await using place = await openPlace()
  const stub = new RecoveryStub()
  const options = { ...place.options, fetch: stub.fetch, accountMs }
  {
    await using bridge = await startBridge(options)
    expect(stub.accounts[0]).toMatchObject({ starts: 1, restart: 'none' })
    expect(stub.accounts[0]).not.toHaveProperty('lastSweepAt')
    expect(stub.accounts[0]).not.toHaveProperty('lastAcceptAt')
    await place.gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'Review PR 7' })
    await bridge.step('turn_started')
    await until(
      () => stub.accounts.at(-1),
      (account) => account?.lastAcceptAt !== undefined && account.lastSweepAt !== undefined,
    )
  }
  const before = stub.accounts.at(-1)!
  const { length } = stub.accounts
  await using _again = await startBridge(options)
  const after = stub.accounts[length]!
  expect(after).toMatchObject({ starts: 2, lastAcceptAt: before.lastAcceptAt, seen: true })
  expect(Date.parse(String(after.lastSweepAt))).toBeGreaterThanOrEqual(Date.parse(String(before.lastSweepAt)))
  expect(Date.parse(String(after.lastSweepAt))).toBeLessThanOrEqual(Date.parse(String(after.startedAt)))
})

test('a gateway of a version without recovery is said once, and its agents are woken', async () => {
  await using place = await openPlace()
  const stub = new RecoveryStub()
  stub.isOld = true
  await using bridge = await startBridge({ ...place.options, fetch: stub.fetch, accountMs })
  await place.gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'Review PR 7' })
  await bridge.step('turn_started')
  await until(
    () => bridge.notes.filter((note) => note.includes('without recovery')),
    (notes) => notes.length > 0,
  )
  await new Promise((resolve) => setTimeout(resolve, accountMs * 3))
  expect(bridge.notes.filter((note) => note.includes('without recovery'))).toHaveLength(1)
})

test('a bridge whose gateway says at its start that the agent is parked hands nothing over until it is not', async () => {
  await using place = await openPlace()
  const stub = new RecoveryStub()
  stub.parked = { until: new Date(Date.now() + 3_600_000).toISOString(), reason: 'usage-limit' }
  await place.gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'Review PR 7' })
  await using bridge = await startBridge({ ...place.options, fetch: stub.fetch, accountMs })
  await place.gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'Review PR 8' })
  const { detail } = await bridge.step('held')
  expect(detail).toMatch(/^usage_limit: its harness is at its limit \(usage limit\); it may at /)
  expect(place.harness.turns).toEqual([])
  stub.parked = null
  await bridge.noted(/not parked any more/)
  await bridge.step('turn_started')
})

test('a limit that a harness shows parks the agent at once, and the gateway hears of it when it is back', async () => {
  await using place = await openPlace()
  const stub = new RecoveryStub()
  await using bridge = await startBridge({ ...place.options, fetch: stub.fetch, accountMs })
  stub.isAway = true
  const until_ = Date.now() + 3_600_000
  place.harness.limit({ reason: 'usage-limit', until: until_, detail: 'resets 3pm' }, { conversationId: 'thread' })
  await place.gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'Review PR 7' })
  expect((await bridge.step('held')).detail).toContain('usage limit: resets 3pm')
  expect(stub.parks).toEqual([])
  stub.isAway = false
  await until(
    () => stub.parks,
    (parks) => parks.length > 0,
  )
  expect(stub.parks).toEqual([{ until: new Date(until_).toISOString(), reason: 'usage-limit', detail: 'resets 3pm' }])
  expect(place.harness.turns).toEqual([])
})

test('a park that the gateway refuses holds here, and stops no report', async () => {
  await using place = await openPlace()
  const stub = new RecoveryStub()
  stub.refusesParks = true
  await using bridge = await startBridge({ ...place.options, fetch: stub.fetch, accountMs })
  const limit = { reason: 'usage-limit', until: Date.now() + 3_600_000, detail: '\u001b[31mlimit\u0007' } as const
  place.harness.limit(limit, { conversationId: 'thread' })
  await bridge.noted(/parked:/)
  const { length } = stub.accounts
  await until(
    () => stub.accounts,
    (accounts) => accounts.length > length + 2,
  )
  await place.gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'Review PR 7' })
  expect((await bridge.step('held')).detail).toContain('usage_limit')
  expect(place.harness.turns).toEqual([])
})

test('an answer of the gateway with a word where an instant belongs is an error: it parks and starts nothing', async () => {
  const stub = new RecoveryStub()
  stub.parked = { until: 'soon', reason: 'usage-limit' }
  const credentials = async () => ({ key: 'rk_donna' })
  const calls = new RecoveryCalls(createGatewayClient({ url: 'http://gateway.test', credentials, fetch: stub.fetch }))
  const account = { startedAt: new Date().toISOString(), starts: 1, restart: 'none', seen: false } as const
  const { signal } = new AbortController()
  await expect(calls.account(account, signal)).rejects.toThrow('The gateway has named no instant: soon')
})

test('a limit in the conversation of another agent parks nobody else', async () => {
  await using place = await openPlace()
  const stub = new RecoveryStub()
  await using bridge = await startBridge({ ...place.options, fetch: stub.fetch, accountMs })
  place.harness.limit({ reason: 'usage-limit', until: Date.now() + 60_000 }, { conversationId: 'of somebody else' })
  place.harness.limit({ reason: 'usage-limit', until: Date.now() + 60_000 }, { agent: '@erik' })
  await place.gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'Review PR 7' })
  await bridge.step('turn_started')
  expect(stub.parks).toEqual([])
})

test('a park ends with its time, is at most eight days long, and is told once', () => {
  const clock = new FakeClock()
  const notes: string[] = []
  const parking = new Parking(
    () => clock.now(),
    (text) => void notes.push(text),
  )
  const limit = (ms: number | null): UsageLimit => ({
    reason: 'usage-limit',
    until: ms === null ? null : clock.now() + ms,
  })
  expect(parking.limited(limit(-1))).toBe(true)
  expect(parking.guard?.mayAt).toBe(clock.now() + 60_000)
  // A run that began before the park says nothing new.
  expect(parking.limited(limit(-1))).toBe(false)
  clock.advance(60_000)
  expect(parking.guard).toBeUndefined()
  expect(parking.limited(limit(0))).toBe(true)
  expect(parking.guard?.mayAt).toBe(clock.now() + 120_000)
  clock.advance(120_000)
  notes.length = 0
  expect(parking.limited(limit(90_000))).toBe(true)
  // A harness that tries again tells it again.
  expect(parking.limited(limit(91_000))).toBe(false)
  expect(notes).toHaveLength(1)
  clock.advance(90_000)
  expect(parking.guard).toBeUndefined()
  expect(parking.limited(limit(90 * 24 * 3_600_000))).toBe(true)
  expect(parking.guard?.mayAt).toBe(clock.now() + 8 * 24 * 3_600_000)
  expect(parking.limited(limit(null))).toBe(true)
  expect(parking.guard?.mayAt).toBe(Number.POSITIVE_INFINITY)
  // The answer of the gateway takes nothing back that the gateway has not heard.
  parking.told(null)
  expect(parking.guard).toBeDefined()
  parking.sent(parking.unsent!, true)
  parking.told(null)
  expect(parking.guard).toBeUndefined()
})

/** A harness of @donna that runs, with its session at the gateway. */
async function sessionOf({ gateway, donna }: Awaited<ReturnType<typeof openPlace>>, over: { pid?: number } = {}) {
  const harness = spawn('sleep', ['600'], { stdio: 'ignore' })
  await once(harness, 'spawn')
  const pid = over.pid ?? harness.pid!
  const { startedAt } = processStart(harness.pid!)!
  const { status, body } = await gateway.call('POST', '/v1/sessions', { surface: 'repl', pid, startedAt }, donna)
  expect(status).toBe(201)
  const kill = async () => {
    harness.kill('SIGKILL')
    await once(harness, 'exit')
  }
  const read = async () => (await gateway.call('GET', `/v1/sessions/${body.sessionId}`, undefined, donna)).body
  return { kill, read }
}

// S3-6
test('a harness that was killed ends its session, as soon as the bridge of its machine looks', async () => {
  await using place = await openPlace()
  const { read, kill } = await sessionOf(place)
  const { fetch } = new RecoveryStub()
  await using bridge = await startBridge({ ...place.options, fetch, accountMs })
  await kill()
  expect(await until(read, ({ status }) => status === 'ended')).toMatchObject({ reason: 'ended' })
  await bridge.noted(/its session is ended: its harness, process \d+, runs no more/)
})

test('a harness that ended while the bridge was away, as at a restart of the machine, ends its session at the first look', async () => {
  await using place = await openPlace()
  const { read, kill } = await sessionOf(place)
  const options = { ...place.options, fetch: new RecoveryStub().fetch, accountMs }
  {
    await using _bridge = await startBridge(options)
  }
  await kill()
  expect(await read()).toMatchObject({ status: 'live' })
  await using _again = await startBridge(options)
  expect((await read()).status).toBe('ended')
})

test('a session whose process has never run here is of another machine, and is left alone', async () => {
  await using place = await openPlace()
  const { read, kill } = await sessionOf(place, { pid: 4_194_000 })
  const stub = new RecoveryStub()
  await using _bridge = await startBridge({ ...place.options, fetch: stub.fetch, accountMs })
  const { length } = stub.accounts
  await until(
    () => stub.accounts.length,
    (count) => count > length + 3,
  )
  expect((await read()).status).toBe('live')
  await kill()
})
