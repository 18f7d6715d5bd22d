import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { expect, test } from 'vitest'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import { advanceUntil, deliveriesOf, logIdsOf, sendMany, stateOf, untilAttempts } from './acts.ts'

/** Makes the store refuse every record of a delivery until it is healed. */
function breakRecords(gateway: TestGateway): { heal(): void } {
  const db = new Sqlite(join(gateway.dataDir, 'rouse.db'))
  db.exec(`create trigger refuse_record before insert on delivery begin select raise(abort, 'refused'); end`)
  return {
    heal() {
      db.exec('drop trigger refuse_record')
      db.close()
    },
  }
}

test('a record that the store refuses is written once it takes it, and nothing is sent twice', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock } })
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const { id } = await gateway.subscribe(donna, receiver.url)
  const store = breakRecords(gateway)
  await sendMany(gateway, 'donna', 3)
  await receiver.waitFor(1)
  clock.advance(5_000)
  expect(await stateOf(gateway, donna, id)).toMatchObject({ lastEmittedLogId: null })
  store.heal()
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
  const store = breakRecords(gateway)
  await gateway.send('donna', 'task')
  await receiver.waitFor(1)
  await stateOf(gateway, donna, id)
  store.heal()
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
  const store = breakRecords(gateway)
  await gateway.send('donna', 'task')
  await receiver.waitFor(1)
  expect(await stateOf(gateway, donna, id)).toMatchObject({ status: 'active' })
  store.heal()
  await advanceUntil(
    clock,
    1000,
    () => stateOf(gateway, donna, id),
    ({ status }) => status === 'degraded',
  )
})

test('a gateway whose store refuses records stops at once, and the next one goes on', async () => {
  const clock = new FakeClock()
  await using first = await startGateway({ overrides: { clock } })
  await using receiver = await startReceiver()
  const donna = await first.addAgent('donna')
  const { id } = await first.subscribe(donna, receiver.url)
  const store = breakRecords(first)
  await first.send('donna', 'task')
  await receiver.waitFor(1)
  await first.stop()
  store.heal()
  await using second = await startGateway({ dataDir: first.dataDir, overrides: { clock } })
  await untilAttempts(second, donna, id, 1, clock, 'delivered')
  expect(new Set(receiver.wakes.map(({ body }) => body.eventId)).size).toBe(1)
})
