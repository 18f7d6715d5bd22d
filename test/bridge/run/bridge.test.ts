import { describe, expect, test } from 'vitest'
import { dataDirectory } from '../../support/data-directory.ts'
import { startGateway } from '../../support/gateway.ts'
import { until } from '../../support/until.ts'
import { mail, outcomes, subscriptionsOf, untilOutcomes } from './acts.ts'
import { openPlace, startBridge, workplace } from './bridge-desk.ts'
import { FakeHarness } from './fake-harness.ts'

describe('rouse bridge', () => {
  // S1-37
  test('hands a wake to the one conversation, once, and tells the gateway each step with its proof', async () => {
    await using place = await openPlace()
    const { gateway, donna, harness, options } = place
    await using bridge = await startBridge(options)
    await mail(gateway, 'Review PR 7')
    await untilOutcomes(gateway, donna, ['delivered'])
    expect(harness.turns.map(({ text }) => text)).toEqual([expect.stringContaining('"Review PR 7"')])
    expect(bridge.receipts).toMatchObject([
      { agent: '@donna', step: 'accepted', source: 'journal of the bridge' },
      { step: 'routed', source: 'codex: queue of thread' },
      { step: 'turn_started', source: 'codex: turn/started' },
    ])
    expect(await bridge.status()).toMatchObject({
      isRunning: true,
      turnsLastMinute: 1,
      agents: [
        {
          agent: '@donna',
          state: 'connected',
          turnsLastHour: 1,
          last: [{ step: 'turn_started', conversationId: 'thread' }],
        },
      ],
      harnesses: [{ harness: 'codex', version: '1.0', conversations: [{ conversationId: 'thread', state: 'idle' }] }],
    })
  })

  test('holds a wake while the harness works, tries again when that changes, and tells what gathered as one digest', async () => {
    await using place = await openPlace({ state: 'active' })
    const { gateway, donna, harness, home, options } = place
    await using bridge = await startBridge(options)
    await mail(gateway, 'one')
    expect(await bridge.step('held')).toMatchObject({ detail: 'turn_active: it is active', source: 'codex' })
    await mail(gateway, 'two')
    await mail(gateway, 'three')
    expect(await bridge.status()).toMatchObject({ agents: [{ held: { reason: 'it is active' } }] })
    harness.set({ cwd: workplace(home), state: 'idle' })
    await untilOutcomes(gateway, donna, ['delivered', 'delivered'])
    expect(harness.turns.map(({ text }) => text)).toEqual([
      expect.stringContaining('"one"'),
      expect.stringContaining('2 new messages'),
    ])
    expect(bridge.receipts.filter(({ step }) => step === 'held')).toHaveLength(1)
  })

  test('waits for a conversation that starts later, and not when its mail was read meanwhile', async () => {
    using home = dataDirectory()
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const harness = new FakeHarness()
    await using bridge = await startBridge({ gateway, agents: [donna], rows: [harness.row()], home: home.path })
    await mail(gateway, 'read by hand')
    expect((await bridge.step('held')).detail).toContain(`no conversation of codex runs in ${workplace(home.path)}`)
    const { body } = await gateway.call('GET', '/v1/inbox', undefined, donna)
    const [{ messageId }] = body.messages
    expect((await gateway.call('POST', `/v1/messages/${messageId}/status`, { status: 'seen' }, donna)).status).toBe(200)
    harness.set({ cwd: workplace(home.path) })
    await untilOutcomes(gateway, donna, ['delivered'])
    expect(harness.turns).toEqual([])
    expect(await bridge.step('seen')).toMatchObject({ detail: 'its reader has read it without a wake' })
    await mail(gateway, 'another')
    await untilOutcomes(gateway, donna, ['delivered', 'delivered'])
    expect(harness.turns).toHaveLength(1)
  })

  test('wakes nobody where two conversations may be meant, and names both', async () => {
    await using place = await openPlace({ conversationId: 'first' })
    const { gateway, donna, harness, home, options } = place
    harness.set({ cwd: workplace(home), conversationId: 'second' })
    await using bridge = await startBridge(options)
    await mail(gateway, 'for whom?')
    expect((await bridge.step('misaddressed')).detail).toMatch(/codex first in .*codex second in/)
    await untilOutcomes(gateway, donna, ['failed'])
    expect(harness.turns).toEqual([])
  })

  test('finds the conversation by the process that the gateway knows, and reports its presence', async () => {
    using home = dataDirectory()
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const process = { pid: globalThis.process.pid, startedAt: '2026-11-22T10:00:00.000Z' }
    await gateway.call('POST', '/v1/sessions', { surface: 'codex', ...process, drain: false }, donna)
    const harness = new FakeHarness()
    const cwd = workplace(home.path)
    harness.set({ cwd, conversationId: 'own', process })
    harness.set({ cwd, conversationId: 'other', process: { ...process, startedAt: '2026-11-22T11:00:00.000Z' } })
    await using _bridge = await startBridge({ gateway, agents: [donna], rows: [harness.row()], home: home.path })
    harness.set({ cwd, conversationId: 'own', process, state: 'active', activeTurnId: 'turn-1' })
    const presence = async () => (await gateway.call('GET', '/v1/agents/donna', undefined, donna)).body.presence
    expect(await until(presence, ({ state }) => state === 'active')).toMatchObject({
      source: 'codex-app-server',
      activeTurnId: 'turn-1',
    })
    harness.set({ cwd, conversationId: 'own', process, state: 'idle' })
    await mail(gateway, 'by process')
    await untilOutcomes(gateway, donna, ['delivered'])
    expect(harness.turns).toHaveLength(1)
  })

  test('begins no more turns than it may, and says when the next one may', async () => {
    await using place = await openPlace()
    const { gateway, donna, harness, options } = place
    const limits = { turnsAnHour: 1 }
    await using bridge = await startBridge({ ...options, limits })
    await mail(gateway, 'first')
    await untilOutcomes(gateway, donna, ['delivered'])
    await mail(gateway, 'second')
    expect((await bridge.step('held')).detail).toMatch(
      /^too_many_turns: @donna has begun 1 turn within an hour \(turnsAnHour\); it may at \d{4}-/,
    )
    expect(harness.turns).toHaveLength(1)
    expect(await outcomes(gateway, donna)).toEqual(['delivered', 'pending'])
  })

  test('a test of the route begins a turn, and is not kept for later where it cannot', async () => {
    await using place = await openPlace()
    const { gateway, donna, harness, home, options } = place
    await using bridge = await startBridge(options)
    const [{ subscriptionId }] = await subscriptionsOf(gateway, donna)
    const tried = async () =>
      (await gateway.call('POST', `/v1/wake-subscriptions/${subscriptionId}/test`, undefined, donna)).body
    expect(await tried()).toMatchObject({ attempt: { error: null } })
    expect(harness.turns.map(({ text }) => text)).toEqual([
      expect.stringContaining('This is a test of how you are woken'),
    ])
    harness.set({ cwd: workplace(home), state: 'userTyping' })
    expect(await tried()).toMatchObject({ attempt: { error: 'refused' } })
    expect(await bridge.step('refused')).toMatchObject({ detail: 'user_typing: it is userTyping' })
    const { agents } = await bridge.status()
    expect(agents[0]?.held).toBeUndefined()
    expect(harness.turns).toHaveLength(1)
  })
})
