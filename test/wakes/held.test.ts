import { describe, expect, test, vi } from 'vitest'
import { newestLiveSession } from '../../src/registry/sessions/session-lists.ts'
import type { Subscription } from '../../src/registry/subscriptions/subscription.ts'
import { holdEvents } from '../../src/wakes/commit/decide-wakes.ts'
import { readPending } from '../../src/wakes/read/pending.ts'
import { type HoldRecord, insertHeld, listHeld, pruneHeld } from '../../src/wakes/store/held-store.ts'
import { beat, begin, say } from '../sessions/sessions.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'
import { besideStore } from '../support/store.ts'
import { readWakes } from '../support/wake-reader.ts'
import { advanceUntil, patch, remove } from './acts.ts'
import { messageSent, noon, subscriptionOf } from './builders.ts'
import { arrived, openEngine } from './engine.ts'

describe('what woke nobody', () => {
  // S1-15
  test('is listed with its reason, newest first', async () => {
    await using gateway = await startGateway()
    await using receiver = await startReceiver()
    const donna = await gateway.addAgent('donna')
    const sub = await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME' })
    const policies = ['silent', 'immediate', 'next_turn'] as const
    const ids: string[] = []
    for (const wakePolicy of policies) ids.push(await mail(gateway, { wakePolicy, priority: 'high' }))
    const [wake] = await receiver.waitFor(1)
    expect(wake!.body.payload.messageId).toBe(ids[1])
    const [second, first] = await heldOf(gateway, donna, sub.id)
    expect(first).toEqual({
      logId: expect.any(Number),
      type: 'message.sent',
      action: 'store_only',
      reason: 'silent',
      messageId: ids[0],
      createdAt: expect.any(String),
    })
    expect(second).toMatchObject({ action: 'hold_for_next_turn', reason: 'next_turn', messageId: ids[2] })
    expect(receiver.wakes.length).toBe(1)
  })

  test('is listed also while the subscription is sending', async () => {
    await using gateway = await startGateway()
    await using receiver = await startReceiver()
    const donna = await gateway.addAgent('donna')
    const sub = await gateway.subscribe(donna, receiver.url, {
      trigger: 'SENT_TO_ME',
      harnessTargetMetadata: { coalesceWindow: 300, coalesceMode: 'window' },
    })
    await mail(gateway, { wakePolicy: 'immediate' })
    await mail(gateway, { wakePolicy: 'next_turn' })
    expect(await heldOf(gateway, donna, sub.id)).toMatchObject([{ reason: 'next_turn' }])
  })

  test('is what a subscription listens to, and nothing else', async () => {
    await using gateway = await startGateway()
    await using receiver = await startReceiver()
    const donna = await gateway.addAgent('donna')
    const tasks = await gateway.subscribe(donna, receiver.url)
    const low = await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME', filters: { priority: 'low' } })
    const paused = await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME' })
    await patch(gateway, donna, paused.id, { status: 'paused' })
    await mail(gateway, { wakePolicy: 'next_turn', priority: 'high' })
    for (const { id } of [tasks, low]) expect(await heldOf(gateway, donna, id)).toEqual([])
    expect(await heldOf(gateway, donna, paused.id)).toMatchObject([{ reason: 'next_turn' }])
  })

  // S1-20
  test.each(['disabled', 'none'])('has no route where the target is %s', async (harnessTarget) => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const id = await listen(gateway, donna, harnessTarget)
    await mail(gateway, { wakePolicy: 'immediate' })
    expect(await heldOf(gateway, donna, id)).toMatchObject([{ action: 'hold_for_next_turn', reason: 'no_route' }])
  })

  test('is listed in pages, is removed with its subscription, and is visible to its owner', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const mike = await gateway.addAgent('mike')
    const id = await listen(gateway, donna, 'disabled')
    for (let i = 0; i < 5; i++) await mail(gateway, { wakePolicy: 'silent' })
    const seen: number[] = []
    for (let token = '', more = true; more; more = token !== '') {
      const path = `/v1/wake-subscriptions/${id}/held?limit=2${token && `&pageToken=${token}`}`
      const { body } = await gateway.call('GET', path, undefined, { key: donna.key })
      seen.push(...body.held.map(({ logId }: { logId: number }) => logId))
      token = body.nextPageToken
    }
    expect(seen.length).toBe(5)
    expect([...seen].sort((a, b) => b - a)).toEqual(seen)
    const path = `/v1/wake-subscriptions/${id}/held`
    expect((await gateway.call('GET', path, undefined, { key: mike.key })).body.code).toBe('subscription-not-found')
    expect((await gateway.call('GET', `${path}?limit=0`)).body).toMatchObject({ status: 400, field: 'limit' })
    expect((await gateway.call('POST', path)).status).toBe(405)
    await remove(gateway, donna, id)
    expect((await gateway.call('GET', path, undefined, { key: donna.key })).status).toBe(404)
  })
})

describe('a bridge', () => {
  // S1-9…S1-13, S1-19
  test.each([
    ['nothing is known of', undefined, 'presence_unknown', 'unknown'],
    ['is idle, and cannot start a turn', { state: 'idle', source: 'bridge-daemon' }, 'cannot_start_turn', 'idle'],
    ['works', { state: 'active', source: 'bridge-daemon', activeTurnId: 't' }, 'turn_active', 'active'],
    [
      'waits for an approval',
      { state: 'waitingOnApproval', source: 'bridge-daemon', capabilities: ['turn/steer'], activeTurnId: 't' },
      'waiting_on_approval',
      'waitingOnApproval',
    ],
    [
      'is typed into',
      { state: 'userTyping', source: 'os-ui-probe', capabilities: ['turn/start', 'append-only'] },
      'user_typing',
      'userTyping',
    ],
  ] as const)('to a harness that %s holds back', async (_, presence, reason, state) => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const id = await listen(gateway, donna, 'bridge-daemon')
    await using _reader = await readWakes(gateway, donna, [id], [])
    await begin(gateway, donna)
    if (presence) await say(gateway, donna, presence)
    await mail(gateway, { wakePolicy: 'immediate' })
    expect(await heldOf(gateway, donna, id)).toMatchObject([{ reason, presence: state }])
  })

  test.each([
    ['starts a turn', { state: 'idle', capabilities: ['turn/start'] }],
    ['steers the turn', { state: 'active', activeTurnId: 't', capabilities: ['turn/steer'] }],
    ['only appends', { state: 'unknown', capabilities: ['append-only'] }],
  ])('that %s is let through, with what presence held before', async (_, presence) => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const id = await listen(gateway, donna, 'bridge-daemon')
    await using _reader = await readWakes(gateway, donna, [id], [])
    const session = await begin(gateway, donna)
    await mail(gateway, { wakePolicy: 'immediate' })
    await beat(gateway, donna, session, { source: 'codex-app-server', ...presence })
    await mail(gateway, { wakePolicy: 'immediate' })
    await mail(gateway, { wakePolicy: 'next_turn' })
    const decided = (await heldOf(gateway, donna, id)).filter(({ action }: { action: string }) => action !== 'wait')
    expect(decided).toMatchObject([{ reason: 'next_turn' }])
  })

  test('reads on after an event that was held when it was appended', async () => {
    await using engine = await openEngine(async () => arrived)
    const bridge: Partial<Subscription> = { harnessTarget: 'bridge-daemon', target: {} }
    await engine.add([bridge])
    const logId = await engine.append()
    expect(await newestLiveSession(engine.db, 'agent_donna')).toBe(undefined)
    expect(
      (await listHeld(engine.db, 'WAKE_SUB:1', { from: 0, before: logId + 1, limit: 10 })).map(({ reason }) => reason),
    ).toEqual(['presence_unknown'])
    expect((await readPending(engine.db, subscriptionOf(bridge), 0)).events).toEqual([])
    expect((await readPending(engine.db, subscriptionOf({ ...bridge, id: 'WAKE_SUB:2' }), 0)).events.length).toBe(1)
  })
})

// S1-18
test('an immediate event on a route with its own rules needs no query', async () => {
  await using engine = await openEngine(async () => arrived)
  await engine.db.transaction(async (tx) => {
    const spies = [vi.spyOn(tx, 'get'), vi.spyOn(tx, 'all'), vi.spyOn(tx, 'run')]
    for (const harnessTarget of ['a2a-webhook', 'mcp-notifications'] as const) {
      const events = [messageSent(1), messageSent(2)]
      const held: HoldRecord[] = []
      expect(await holdEvents(tx, subscriptionOf({ harnessTarget }), events, held)).toEqual(events)
      expect(held).toEqual([])
    }
    for (const spy of spies) expect(spy).not.toHaveBeenCalled()
  })
})

test('what is held for hundreds of subscriptions is written in a few statements, and the first decision stands', async () => {
  await using engine = await openEngine(async () => arrived)
  const ids = Array.from({ length: 200 }, (_, index) => `WAKE_SUB:${index + 1}`)
  await engine.add(ids.map((id) => ({ id, harnessTarget: 'a2a-webhook' })))
  const logId = await engine.append()
  const heldFor = (reason: 'own_act' | 'silent'): HoldRecord[] =>
    ids.map((subscriptionId) => ({
      subscriptionId,
      event: { projectId: 'default', logId },
      decision: { action: 'store_only', reason },
      presence: null,
    }))
  await engine.db.transaction(async (tx) => {
    const run = vi.spyOn(tx, 'run')
    await insertHeld(tx, heldFor('own_act'))
    expect(run.mock.calls.length).toBeLessThan(10)
    await insertHeld(tx, heldFor('silent'))
  })
  for (const id of ids) {
    expect(
      (await listHeld(engine.db, id, { from: 0, before: logId + 1, limit: 10 })).map(({ reason }) => reason),
    ).toEqual(['own_act'])
  }
})

test('is pruned like old events, in steps', async () => {
  await using engine = await openEngine(async () => arrived)
  await engine.add([{ harnessTarget: 'none', target: {} }])
  await Promise.all(Array.from({ length: 700 }, () => engine.append()))
  engine.clock.advance(1000)
  const newest = await engine.append()
  const { signal } = new AbortController()
  expect(await pruneHeld(engine.db, noon + 1000, signal)).toBe(700)
  expect(
    (await listHeld(engine.db, 'WAKE_SUB:1', { from: 0, before: newest + 1, limit: 10 })).map(
      ({ event }) => event.logId,
    ),
  ).toEqual([newest])
  expect(await pruneHeld(engine.db, noon, signal)).toBe(0)
})

test('is not kept longer than its events', async () => {
  const clock = new FakeClock(noon)
  await using gateway = await startGateway({ env: { ROUSE_RETENTION_DAYS: '1' }, overrides: { clock } })
  const donna = await gateway.addAgent('donna')
  await listen(gateway, donna, 'none')
  await mail(gateway, { wakePolicy: 'immediate' })
  const count = async () => (await besideStore(gateway.dataDir, 'select count(*) as kept from held_wake'))[0]!.kept
  expect(Number(await count())).toBe(1)
  clock.advance(24 * 3_600_000)
  await advanceUntil(clock, 60_000, count, (kept) => Number(kept) === 0)
})

async function mail(gateway: TestGateway, fields: object): Promise<string> {
  const { status, body } = await gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'hello', ...fields })
  if (status !== 201) throw new Error(`mail: ${JSON.stringify(body)}`)
  return body.messageId
}

async function listen(gateway: TestGateway, agent: TestAgent, harnessTarget: string): Promise<string> {
  const input = { trigger: 'SENT_TO_ME', harnessTarget }
  const { body } = await gateway.call('POST', '/v1/wake-subscriptions', input, { key: agent.key })
  return body.subscriptionId
}

async function heldOf(gateway: TestGateway, agent: TestAgent, id: string) {
  return (await gateway.call('GET', `/v1/wake-subscriptions/${id}/held`, undefined, { key: agent.key })).body.held
}
