import { describe, expect, test } from 'vitest'
import { dataDirectory } from '../../support/data-directory.ts'
import { startGateway } from '../../support/gateway.ts'
import { until } from '../../support/until.ts'
import { mail, subscriptionsOf, untilOutcomes } from './acts.ts'
import { openPlace, startBridge, workplace } from './bridge-desk.ts'
import { FakeHarness } from './fake-harness.ts'

describe('what waits', () => {
  test('a test is answered at once, with the reason, while another wake is held', async () => {
    await using place = await openPlace({ state: 'waitingOnApproval' })
    const { gateway, donna, harness, home, options } = place
    await using bridge = await startBridge(options)
    await mail(gateway, 'held')
    await bridge.step('held')
    const [own] = await subscriptionsOf(gateway, donna)
    const path = `/v1/wake-subscriptions/${own.subscriptionId}/test`
    const startedAt = Date.now()
    await gateway.call('POST', path, {}, donna)
    expect((await bridge.step('refused')).detail).toBe('waiting_on_approval: it is waitingOnApproval')
    expect(Date.now() - startedAt).toBeLessThan(5_000)
    expect(await bridge.status()).toMatchObject({ agents: [{ held: { reason: 'it is waitingOnApproval' } }] })
    harness.set({ cwd: workplace(home), state: 'idle' })
    await untilOutcomes(gateway, donna, ['delivered'])
    await gateway.call('POST', path, {}, donna)
    expect(harness.turns.map(({ text }) => /held|test/.exec(text)?.[0])).toEqual(['held', 'test'])
  })

  test('a wake that its harness does not begin is given up; the next one goes on, and a test does not wait for it', async () => {
    await using place = await openPlace()
    const { gateway, donna, harness, options } = place
    harness.onWake = async (_session, _wake, tools) => {
      await tools.handingOver('queue')
      tools.report('held', 'its queue is stopped', 'cannot_start_turn')
      await new Promise<void>((resolve) => tools.signal.addEventListener('abort', () => resolve(), { once: true }))
      return { step: 'held', detail: 'taken back', reason: 'cannot_start_turn' }
    }
    await using bridge = await startBridge({ ...options, harnessWaitMinutes: 2 / 60 })
    await mail(gateway, 'one')
    await bridge.step('held')
    expect((await bridge.status()).agents[0]?.held?.givenUpAt).toMatch(/^20/)
    const [own] = await subscriptionsOf(gateway, donna)
    await gateway.call('POST', `/v1/wake-subscriptions/${own.subscriptionId}/test`, {}, donna)
    expect((await bridge.step('refused')).detail).toContain('turn_active: another wake waits in the harness')
    expect((await bridge.step('expired')).detail).toMatch(/^cannot_start_turn: taken back; it waited .* in Fake/)
    harness.onWake = (session, wake, tools) => harness.begin(session, wake, tools)
    await mail(gateway, 'two')
    await untilOutcomes(gateway, donna, ['failed', 'delivered'])
    expect(harness.turns.map(({ text }) => text)).toEqual([expect.stringContaining('two')])
  })

  test('one that its harness has since before a restart is given up too', async () => {
    await using place = await openPlace()
    const { gateway, donna, harness, options } = place
    harness.found = 'waits'
    harness.onWake = async (_session, _wake, tools) => {
      await tools.handingOver('queue')
      tools.report('held', 'queued', 'turn_active')
      await new Promise<void>((resolve) => tools.signal.addEventListener('abort', () => resolve(), { once: true }))
      return { step: 'held', detail: 'stopped', reason: 'cannot_start_turn' }
    }
    {
      await using bridge = await startBridge(options)
      await mail(gateway, 'one')
      await bridge.step('held')
    }
    const takenBack: string[] = []
    harness.onTakeBack = (wakeId) => takenBack.push(wakeId) > 0
    const rows = [harness.row()]
    await using bridge = await startBridge({ ...options, rows, harnessWaitMinutes: 1 / 600 })
    const { detail, eventId } = await bridge.step('expired')
    expect(detail).toMatch(/the harness has it, and has not begun.*; it was taken back$/)
    expect(takenBack).toEqual([eventId])
    await untilOutcomes(gateway, donna, ['failed'])
  })

  test('one that begins just when it is to be taken back has begun, and is not given up', async () => {
    await using place = await openPlace()
    const { gateway, donna, harness, options } = place
    harness.found = 'waits'
    harness.onWake = async (_session, _wake, tools) => {
      await tools.handingOver('queue')
      tools.report('held', 'queued', 'turn_active')
      await new Promise<void>((resolve) => tools.signal.addEventListener('abort', () => resolve(), { once: true }))
      return { step: 'held', detail: 'stopped', reason: 'cannot_start_turn' }
    }
    harness.onTakeBack = () => {
      harness.found = 'turn_started'
      return false
    }
    const rows = [harness.row()]
    {
      await using bridge = await startBridge({ ...options, rows })
      await mail(gateway, 'one')
      await bridge.step('held')
    }
    await using bridge = await startBridge({ ...options, rows, harnessWaitMinutes: 1 / 600 })
    await untilOutcomes(gateway, donna, ['delivered'])
    expect(bridge.receipts.filter(({ step }) => step === 'expired')).toEqual([])
  })

  test('one that its harness had before, and that is on no record of the bridge, is given up too', async () => {
    await using place = await openPlace()
    const { gateway, harness, options } = place
    harness.onWake = async (_session, _wake, tools) => {
      tools.report('held', 'in its queue already', 'turn_active')
      await new Promise<void>((resolve) => tools.signal.addEventListener('abort', () => resolve(), { once: true }))
      return { step: 'held', detail: 'taken back', reason: 'cannot_start_turn' }
    }
    await using bridge = await startBridge({ ...options, harnessWaitMinutes: 1 / 600 })
    await mail(gateway, 'one')
    expect((await bridge.step('expired')).detail).toContain('taken back')
  })

  test('a digest counts for each of its senders', async () => {
    using home = dataDirectory()
    await using gateway = await startGateway()
    const [ben, olga] = [await gateway.addAgent('ben'), await gateway.addAgent('olga')]
    const donna = await gateway.addAgent('donna')
    const harness = new FakeHarness()
    harness.set({ cwd: workplace(home.path), state: 'active' })
    const limits = { wakesFromOneAgentAnHour: 1 }
    await using bridge = await startBridge({ gateway, agents: [donna], rows: [harness.row()], home: home.path, limits })
    await mail(gateway, 'of the operator')
    await bridge.step('held')
    await mail(gateway, 'of ben', ben)
    await mail(gateway, 'of olga', olga)
    harness.set({ cwd: workplace(home.path), state: 'idle' })
    await untilOutcomes(gateway, donna, ['delivered', 'delivered'])
    // Ben wrote before Olga did: the digest names her alone.
    await mail(gateway, 'again', ben)
    const step = await until(
      () => bridge.receipts.find(({ detail }) => detail?.includes('1 times within an hour')),
      (found) => found !== undefined,
    )
    expect(step?.detail).toContain('@ben has woken @donna')
    expect(harness.turns).toHaveLength(2)
  })
})
