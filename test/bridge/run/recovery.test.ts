import { expect, test } from 'vitest'
import { dataDirectory } from '../../support/data-directory.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { startGateway } from '../../support/gateway.ts'
import { until } from '../../support/until.ts'
import { advanceUntil } from '../../wakes/acts.ts'
import { mail, subscriptionsOf } from './acts.ts'
import { startBridge, workplace } from './bridge-desk.ts'
import { FakeHarness } from './fake-harness.ts'

test('an agent whose wakes failed until the gateway stopped them is woken again after a while, and its user learns why', async () => {
  using home = dataDirectory()
  const clock = new FakeClock(Date.now())
  await using gateway = await startGateway({ overrides: { clock, random: () => 0 } })
  const donna = await gateway.addAgent('donna')
  const harness = new FakeHarness()
  harness.set({ cwd: workplace(home.path) })
  harness.onWake = async () => {
    throw new Error('it does not answer')
  }
  const recoveryTimes = { lookMs: 20, restMs: { first: 500, max: 1_000 } }
  await using bridge = await startBridge({
    gateway,
    agents: [donna],
    rows: [harness.row()],
    home: home.path,
    recoveryTimes,
  })
  const isDegraded = () => bridge.notes.some((note) => /its wakes for SENT_TO_ME have stopped/.test(note))
  // Instead of the six hours that a bridge has it tried: as long as any receiver.
  const [{ subscriptionId }] = await until(
    () => subscriptionsOf(gateway, donna),
    ({ length }) => length === 1,
  )
  const often = { harnessTargetMetadata: { retryForSeconds: 0 } }
  await gateway.call('PATCH', `/v1/wake-subscriptions/${subscriptionId}`, often, { key: donna.key })
  for (let round = 1; round <= 3; round++) {
    await mail(gateway, `fails ${round}`)
    await advanceUntil(
      clock,
      1_000,
      async () => (await subscriptionsOf(gateway, donna))[0],
      ({ failedInARow, status }) => failedInARow === round || status === 'degraded',
    )
  }
  await until(isDegraded, (found) => found)
  expect(bridge.notes.filter((note) => /The wake \w{26} is given up\. Its mail stays unread/.test(note))).toHaveLength(
    3,
  )
  expect(bridge.notes.find((note) => /have stopped/.test(note))).toMatch(
    /3 events failed in a row; the last: .*in 1 s, or at once with: rouse sub update WAKE_SUB:\S+ --status active$/,
  )
  const { agents } = await bridge.status()
  expect(agents[0]).toMatchObject({ state: 'connected', reason: expect.stringContaining('have stopped') })
  harness.onWake = (session, wake, tools) => harness.begin(session, wake, tools)
  await advanceUntil(
    clock,
    1_000,
    () => harness.turns.length,
    (count) => count > 0,
  )
  const [own] = await subscriptionsOf(gateway, donna)
  expect(own).toMatchObject({ status: 'active' })
  await until(
    async () => (await bridge.status()).agents[0]!.reason,
    (reason) => reason === undefined,
  )
})
