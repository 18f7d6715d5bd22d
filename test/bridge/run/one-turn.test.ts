import { describe, expect, test } from 'vitest'
import { dataDirectory } from '../../support/data-directory.ts'
import { startGateway } from '../../support/gateway.ts'
import { until } from '../../support/until.ts'
import { mail, untilOutcomes } from './acts.ts'
import { startBridge, workplace } from './bridge-desk.ts'
import { FakeHarness } from './fake-harness.ts'

describe('a wake that fails', () => {
  test('after the act is unknown: it is not handed over again, and counts against nobody', async () => {
    using home = dataDirectory()
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const harness = new FakeHarness()
    harness.set({ cwd: workplace(home.path) })
    let acts = 0
    harness.onWake = async (_session, _wake, tools) => {
      await tools.handingOver('queue')
      acts++
      return { step: 'failed', detail: 'HTTP 502' }
    }
    await using bridge = await startBridge({ gateway, agents: [donna], rows: [harness.row()], home: home.path })
    await mail(gateway, 'one')
    expect(await bridge.step('unknown')).toMatchObject({ detail: 'HTTP 502' })
    await untilOutcomes(gateway, donna, ['failed'])
    harness.onWake = (session, wake, tools) => harness.begin(session, wake, tools)
    await mail(gateway, 'two')
    await untilOutcomes(gateway, donna, ['failed', 'delivered'])
    expect({ acts, turns: harness.turns.length }).toEqual({ acts: 1, turns: 1 })
  })

  test('because its harness refused it comes again, begins one turn, and counts as one', async () => {
    using home = dataDirectory()
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const harness = new FakeHarness()
    harness.set({ cwd: workplace(home.path) })
    const refusals: string[] = []
    harness.onWake = async (session, wake, tools) => {
      if (refusals.length > 0) return harness.begin(session, wake, tools)
      await tools.handingOver('queue')
      refusals.push(wake.id)
      return { step: 'failed', detail: 'HTTP 400', isUntouched: true }
    }
    await using bridge = await startBridge({ gateway, agents: [donna], rows: [harness.row()], home: home.path })
    await mail(gateway, 'one')
    await until(
      () => harness.turns.map(({ id }) => id),
      (ids) => ids.length > 0,
    )
    await untilOutcomes(gateway, donna, ['delivered'])
    expect(harness.turns.map(({ id }) => id)).toEqual(refusals)
    expect(bridge.receipts.filter(({ step }) => step === 'failed')).toHaveLength(1)
    expect(await bridge.status()).toMatchObject({ turnsLastMinute: 1 })
  })
})
