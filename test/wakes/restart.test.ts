import { expect, test } from 'vitest'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import { deliveriesOf, logIdsOf, sendMany, stateOf, untilAttempts } from './acts.ts'

// S1-46
test('undelivered wakes arrive after a restart, in order and under the eventId of their first attempt', async () => {
  const clock = new FakeClock()
  const overrides = { clock, random: () => 0 }
  await using first = await startGateway({ overrides })
  await using receiver = await startReceiver(503)
  const donna = await first.addAgent('donna')
  const { id } = await first.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME' })
  await sendMany(first, 'donna', 30)
  await untilAttempts(first, donna, id, 1, clock)
  clock.advance(1000)
  await untilAttempts(first, donna, id, 2, clock)
  await first.stop()

  await using second = await startGateway({ dataDir: first.dataDir, overrides })
  // The schedule continues: the third attempt is due two seconds after the second.
  clock.advance(1999)
  await stateOf(second, donna, id)
  expect(receiver.wakes).toHaveLength(2)
  receiver.respond(200)
  await until(
    () => {
      clock.advance(receiver.wakes.length === 2 ? 1 : 0)
      return receiver.wakes.length
    },
    (count) => count === 32,
  )
  const [once, twice, ...rest] = receiver.wakes
  expect(new Set([once, twice, rest[0]].map((wake) => wake!.body.eventId)).size).toBe(1)
  expect(logIdsOf(rest)).toEqual([...new Set(logIdsOf(rest))].sort((a, b) => a - b))
  expect(rest.map(({ body }) => body.prevLogId)).toEqual([null, ...logIdsOf(rest).slice(0, -1)])
  const deliveries = await until(
    () => deliveriesOf(second, donna, id),
    ({ length }) => length === 30,
  )
  expect(deliveries.at(-1).attempts.map(({ status }: { status: number }) => status)).toEqual([503, 503, 200])
})

test('a digest that was tried covers the same events after a restart', async () => {
  const clock = new FakeClock()
  const overrides = { clock, random: () => 0 }
  await using first = await startGateway({ overrides })
  await using receiver = await startReceiver(503)
  const donna = await first.addAgent('donna')
  const harnessTargetMetadata = { coalesceWindow: 30, coalesceMode: 'window' }
  const { id } = await first.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME', harnessTargetMetadata })
  await sendMany(first, 'donna', 3)
  clock.advance(30_000)
  await untilAttempts(first, donna, id, 1, clock)
  await sendMany(first, 'donna', 2, 3)
  await first.stop()

  receiver.respond(200)
  await using _second = await startGateway({ dataDir: first.dataDir, overrides })
  await until(
    () => {
      clock.advance(1000)
      return receiver.wakes.length
    },
    (count) => count === 3,
  )
  const [before, after, rest] = receiver.wakes
  expect(after!.body.eventId).toBe(before!.body.eventId)
  expect(after!.body.payload.refs).toEqual(before!.body.payload.refs)
  expect(rest!.body).toMatchObject({ prevLogId: after!.body.logId, payload: { eventCount: 2 } })
})

test('a window that was open closes after a restart', async () => {
  const clock = new FakeClock()
  await using first = await startGateway({ overrides: { clock } })
  await using receiver = await startReceiver()
  const donna = await first.addAgent('donna')
  await first.subscribe(donna, receiver.url, { harnessTargetMetadata: { coalesceWindow: 60, coalesceMode: 'window' } })
  await sendMany(first, 'donna', 2)
  await first.stop()
  await using _second = await startGateway({ dataDir: first.dataDir, overrides: { clock } })
  expect(receiver.wakes).toHaveLength(0)
  clock.advance(60_000)
  const [digest] = await receiver.waitFor(1)
  expect(digest!.body.payload).toMatchObject({ eventCount: 2, summary: expect.stringContaining('Window: 60s') })
})

test('a stop under load loses nothing and sends nothing twice', async () => {
  await using first = await startGateway()
  await using receiver = await startReceiver()
  const donna = await first.addAgent('donna')
  await first.subscribe(donna, receiver.url)
  await sendMany(first, 'donna', 100)
  await first.stop()
  expect(receiver.wakes.length).toBeGreaterThan(0)
  await using _second = await startGateway({ dataDir: first.dataDir })
  const wakes = await receiver.waitFor(100)
  expect(new Set(logIdsOf(wakes)).size).toBe(100)
  expect(wakes.map(({ body }) => body.prevLogId)).toEqual([null, ...logIdsOf(wakes).slice(0, -1)])
})
