import { expect, test } from 'vitest'
import type { AdapterRow } from '../../../src/bridge/adapter.ts'
import { execRow } from '../../../src/harnesses/generic/exec/exec-adapter.ts'
import { dataDirectory } from '../../support/data-directory.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { startGateway } from '../../support/gateway.ts'
import { advanceUntil } from '../../wakes/acts.ts'
import { subscriptionsOf } from './acts.ts'
import { startBridge } from './bridge-desk.ts'

// D48
test.each([
  ['fail', 'failed', 'The command that was started for this task ended with exit code 75: no quota'],
  ['keep', 'submitted', undefined],
])(
  'a task whose command has asked to be run again until the gateway gives the wake up: onFailure %s leaves it %s',
  async (onFailure, state, reason) => {
    using home = dataDirectory()
    const clock = new FakeClock(Date.now())
    await using gateway = await startGateway({ overrides: { clock, random: () => 0 } })
    const donna = await gateway.addAgent('donna')
    const settings = { command: 'echo no quota >&2; exit 75', onFailure }
    const row: AdapterRow = { ...execRow, create: (context) => execRow.create({ ...context, settings }) }
    await using bridge = await startBridge({ gateway, agents: [donna], rows: [row], home: home.path })
    // Instead of the six hours that a bridge has it tried: as long as any receiver.
    const [{ subscriptionId }] = await subscriptionsOf(gateway, donna)
    const briefly = { harnessTargetMetadata: { retryForSeconds: 0 } }
    await gateway.call('PATCH', `/v1/wake-subscriptions/${subscriptionId}`, briefly, { key: donna.key })
    const { id } = await gateway.send('@donna', 'Please review PR 7')
    const isOver = (notes: readonly string[]) =>
      notes.some((note) => (reason === undefined ? note.includes('is given up') : note.includes('is failed now')))
    await advanceUntil(clock, 500, () => bridge.notes, isOver)
    expect(bridge.receipts.filter(({ step }) => step === 'failed').length).toBeGreaterThanOrEqual(4)
    const { body: task } = await gateway.call('GET', `/v1/tasks/${id}`)
    expect([task.state, task.status.message?.parts[0].text]).toEqual([state, reason])
  },
)
