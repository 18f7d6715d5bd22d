import { describe, expect, test } from 'vitest'
import type { Fetch } from '../../../src/client/client-fetch.ts'
import { dataDirectory } from '../../support/data-directory.ts'
import { startGateway } from '../../support/gateway.ts'
import { readWakes } from '../../support/wake-reader.ts'
import { mail, outcomes, subscriptionsOf, untilOutcomes } from './acts.ts'
import { openPlace, startBridge, workplace } from './bridge-desk.ts'
import { FakeHarness } from './fake-harness.ts'

describe('a bridge in trouble', () => {
  test('answers from its journal what comes again because the receipt was lost', async () => {
    await using place = await openPlace()
    const { gateway, donna, harness, options } = place
    const losing: Fetch = async (url, init) => {
      if (url.endsWith('/receipts')) throw new TypeError('fetch failed')
      return fetch(url, init) as never
    }
    {
      await using bridge = await startBridge({ ...options, fetch: losing })
      await mail(gateway, 'Review PR 7')
      await bridge.step('turn_started')
      expect(await outcomes(gateway, donna)).toEqual(['pending'])
    }
    await using bridge = await startBridge(options)
    await untilOutcomes(gateway, donna, ['delivered'])
    expect(bridge.receipts).toMatchObject([{ step: 'turn_started', source: 'codex: turn/started' }])
    expect(harness.turns).toHaveLength(1)
    expect((await subscriptionsOf(gateway, donna)).length).toBe(1)
  })

  test('an agent whose key was revoked stops with a line; the others go on', async () => {
    using home = dataDirectory()
    await using gateway = await startGateway()
    const [ben, donna] = [await gateway.addAgent('ben'), await gateway.addAgent('donna')]
    const harness = new FakeHarness()
    harness.set({ cwd: workplace(home.path) })
    await using bridge = await startBridge({ gateway, agents: [ben, donna], rows: [harness.row()], home: home.path })
    expect((await gateway.call('DELETE', '/v1/agents/ben')).status).toBeLessThan(300)
    expect(await bridge.noted(/@ben: its key is not valid any more/)).toContain('rouse login --profile ben')
    await mail(gateway, 'still here')
    await untilOutcomes(gateway, donna, ['delivered'])
    const { agents } = await bridge.status()
    expect(agents.map(({ state }) => state)).toEqual(['stopped', 'connected'])
  })

  test('goes on when the gateway was away', async () => {
    using home = dataDirectory()
    const first = await startGateway()
    const port = new URL(first.url).port
    const donna = await first.addAgent('donna')
    const harness = new FakeHarness()
    harness.set({ cwd: workplace(home.path) })
    await using bridge = await startBridge({ gateway: first, agents: [donna], rows: [harness.row()], home: home.path })
    await first.stop()
    await bridge.noted(/The stream of wakes ended/)
    await using gateway = await startGateway({ dataDir: first.dataDir, env: { ROUSE_PORT: port } })
    await mail(gateway, 'after the restart')
    await untilOutcomes(gateway, donna, ['delivered'])
    expect(harness.turns).toHaveLength(1)
  })

  test('starts before its gateway does', async () => {
    using home = dataDirectory()
    const first = await startGateway()
    const port = new URL(first.url).port
    const donna = await first.addAgent('donna')
    await first.stop()
    const rows = [new FakeHarness().row()]
    await using bridge = await startBridge(
      { gateway: first, agents: [donna], rows, home: home.path },
      { isConnected: false },
    )
    await bridge.noted(/@donna: No gateway answers/)
    await using _gateway = await startGateway({ dataDir: first.dataDir, env: { ROUSE_PORT: port } })
    await bridge.noted(/@donna: connected/)
  })

  test('leaves an agent to another bridge that reads its wakes, and says so', async () => {
    using home = dataDirectory()
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const harness = new FakeHarness()
    await using bridge = await startBridge({ gateway, agents: [donna], rows: [harness.row()], home: home.path })
    const [own] = await subscriptionsOf(gateway, donna)
    await using reader = await readWakes(gateway, donna, [own.subscriptionId])
    expect(await bridge.noted(/another bridge/)).toContain('@donna: another bridge reads its wakes now')
    expect((await bridge.ended)?.message).toBe('No agent is left that can be woken here.')
    await mail(gateway, 'for the other one')
    await reader.waitFor(1)
  })

  test('makes subscriptions of its own, and leaves those of rouse listen', async () => {
    using home = dataDirectory()
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const input = { trigger: 'SENT_TO_ME', harnessTarget: 'bridge-daemon' }
    await gateway.call('POST', '/v1/wake-subscriptions', input, donna)
    const rows = [new FakeHarness().row()]
    await using _bridge = await startBridge({ gateway, agents: [donna], rows, home: home.path })
    const found = await subscriptionsOf(gateway, donna)
    expect(found.map(({ status }) => status).sort()).toEqual(['active', 'waiting'])
  })

  test('takes its own again after a restart, one of before it marked them too, and none that another reader has', async () => {
    using home = dataDirectory()
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const options = { gateway, agents: [donna], rows: [new FakeHarness().row()], home: home.path }
    const own = async () => {
      await using _bridge = await startBridge(options)
      return (await subscriptionsOf(gateway, donna)).find(({ status }) => status === 'active')
    }
    const first = await own()
    expect(first.harnessTargetMetadata.reader).toBe('rouse bridge')
    expect((await own()).subscriptionId).toBe(first.subscriptionId)
    const path = `/v1/wake-subscriptions/${first.subscriptionId}`
    await gateway.call('PATCH', path, { harnessTargetMetadata: { reader: 'another' } }, donna)
    const second = await own()
    expect(second.subscriptionId).not.toBe(first.subscriptionId)
    expect((await gateway.call('GET', path, undefined, donna)).body.status).toBe('waiting')
  })

  test('stops while a harness keeps a wake waiting; the record says that it has it', async () => {
    await using place = await openPlace()
    const { gateway, donna, harness, home, options } = place
    harness.onWake = async (_session, _wake, tools) => {
      await tools.handingOver('queue')
      tools.report('held', 'queued after the turn', 'turn_active')
      await new Promise<void>((resolve) => tools.signal.addEventListener('abort', () => resolve(), { once: true }))
      return { step: 'held', detail: 'stopped', reason: 'cannot_start_turn' }
    }
    {
      await using bridge = await startBridge(options)
      await mail(gateway, 'Review PR 7')
      await bridge.step('held')
      const startedAt = Date.now()
      await bridge[Symbol.asyncDispose]()
      expect(Date.now() - startedAt).toBeLessThan(3_000)
    }
    harness.found = 'waits'
    await using bridge = await startBridge(options)
    expect((await bridge.step('held')).detail).toContain('the harness has it, and has not begun')
    harness.found = 'turn_started'
    harness.set({ cwd: workplace(home), state: 'active' })
    await untilOutcomes(gateway, donna, ['delivered'])
    expect(harness.turns).toEqual([])
    expect(harness.sought.length).toBeGreaterThan(1)
  })

  test('an adapter that fails costs its own wake: unknown after the act, failed before it', async () => {
    await using place = await openPlace()
    const { gateway, donna, harness, options } = place
    harness.onWake = async (_session, _wake, tools) => {
      await tools.handingOver('queue')
      throw new Error('the pipe broke')
    }
    await using bridge = await startBridge(options)
    await mail(gateway, 'first')
    expect(await bridge.step('unknown')).toMatchObject({ detail: 'the pipe broke' })
    await untilOutcomes(gateway, donna, ['failed'])
    harness.onWake = async () => {
      throw new Error('it does not answer')
    }
    await mail(gateway, 'second')
    expect(await bridge.step('failed')).toMatchObject({ detail: 'it does not answer' })
    // The gateway tries again, and then it goes.
    harness.onWake = (session, wake, tools) => harness.begin(session, wake, tools)
    await untilOutcomes(gateway, donna, ['failed', 'delivered'])
    expect(harness.turns).toHaveLength(1)
  })
})
