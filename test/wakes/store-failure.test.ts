import { expect, test } from 'vitest'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'
import { refuseInserts } from '../support/store.ts'
import { until } from '../support/until.ts'
import { advanceUntil, deliveriesOf, logIdsOf, sendMany, stateOf, untilAttempts } from './acts.ts'

test('a record that the store refuses is written when the store accepts it, and nothing is sent twice', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock } })
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const { id } = await gateway.subscribe(donna, receiver.url)
  const heal = await refuseInserts(gateway.dataDir, 'delivery')
  await sendMany(gateway, 'donna', 3)
  await receiver.waitFor(1)
  clock.advance(5_000)
  expect(await stateOf(gateway, donna, id)).toMatchObject({ lastEmittedLogId: null })
  await heal()
  await advanceUntil(
    clock,
    1000,
    () => deliveriesOf(gateway, donna, id),
    ({ length }) => length === 3,
  )
  await gateway.send('donna', 'as before')
  const wakes = await receiver.waitFor(4)
  expect(wakes.map(({ body }) => body.prevLogId)).toEqual([null, ...logIdsOf(wakes).slice(0, -1)])
  expect(new Set(wakes.map(({ body }) => body.eventId)).size).toBe(4)
  await until(
    () => stateOf(gateway, donna, id),
    ({ cursorLogId }) => cursorLogId === wakes[3]!.body.logId,
  )
})

test('a try that cannot be recorded does not count against the event', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock, random: () => 0 } })
  await using receiver = await startReceiver(500)
  const donna = await gateway.addAgent('donna')
  const { id } = await gateway.subscribe(donna, receiver.url)
  const heal = await refuseInserts(gateway.dataDir, 'delivery')
  await gateway.send('donna', 'task')
  await receiver.waitFor(1)
  await stateOf(gateway, donna, id)
  await heal()
  receiver.respond(200)
  await advanceUntil(
    clock,
    1000,
    () => deliveriesOf(gateway, donna, id),
    ([delivery]) => delivery?.outcome === 'delivered',
  )
  expect(receiver.wakes.every(({ body }) => body.eventId === receiver.wakes[0]!.body.eventId)).toBe(true)
  expect(await stateOf(gateway, donna, id)).toMatchObject({ status: 'active', failedInARow: 0 })
})

test('an end that cannot be recorded is reached again', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock, random: () => 0 } })
  await using receiver = await startReceiver(401)
  const donna = await gateway.addAgent('donna')
  const { id } = await gateway.subscribe(donna, receiver.url)
  const heal = await refuseInserts(gateway.dataDir, 'delivery')
  await gateway.send('donna', 'task')
  await receiver.waitFor(1)
  expect(await stateOf(gateway, donna, id)).toMatchObject({ status: 'active' })
  await heal()
  await advanceUntil(
    clock,
    1000,
    () => stateOf(gateway, donna, id),
    ({ status }) => status === 'degraded',
  )
})

test('a gateway whose store refuses records stops at once, and the next one continues', async () => {
  const clock = new FakeClock()
  await using first = await startGateway({ overrides: { clock } })
  await using receiver = await startReceiver()
  const donna = await first.addAgent('donna')
  const { id } = await first.subscribe(donna, receiver.url)
  const heal = await refuseInserts(first.dataDir, 'delivery')
  await first.send('donna', 'task')
  await receiver.waitFor(1)
  await first.stop()
  await heal()
  await using second = await startGateway({ dataDir: first.dataDir, overrides: { clock } })
  await untilAttempts(second, donna, id, 1, clock, 'delivered')
  expect(new Set(receiver.wakes.map(({ body }) => body.eventId)).size).toBe(1)
})
