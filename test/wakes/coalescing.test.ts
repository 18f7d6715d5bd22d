import { expect, test } from 'vitest'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import { advanceUntil, patch, resync, sendMany, stateOf } from './acts.ts'

/** Ends every window that is open, and waits for the wakes. */
async function flush(clock: FakeClock, receiver: { wakes: readonly unknown[] }, count: number, stepMs = 30_000) {
  clock.advance(stepMs)
  await advanceUntil(
    clock,
    0,
    () => receiver.wakes.length,
    (length) => length >= count,
  )
}

/** Resolves when a run has ended: nothing is due and nothing is being sent. */
async function quiet(gateway: TestGateway, agent: TestAgent, id: string, lastEmittedLogId: number) {
  await until(
    () => stateOf(gateway, agent, id),
    (state) => state.lastEmittedLogId === lastEmittedLogId,
  )
}

// S1-39, S1-40, D3
test('window: even one event waits thirty seconds and is sent as a digest', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock } })
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const metadata = { coalesceWindow: undefined as unknown as number, coalesceMode: 'window' }
  const { id } = await gateway.subscribe(donna, receiver.url, {
    trigger: 'SENT_TO_ME',
    harnessTargetMetadata: metadata,
  })
  expect((await stateOf(gateway, donna, id)).harnessTargetMetadata.coalesceWindow).toBe(30)
  await gateway.send('donna', 'please review')
  clock.advance(29_999)
  await stateOf(gateway, donna, id)
  expect(receiver.wakes).toHaveLength(0)

  await flush(clock, receiver, 1, 1)
  expect(receiver.wakes[0]!.body).toMatchObject({
    eventType: 'wake/digest',
    payload: {
      eventCount: 1,
      summary: [
        '[WAKE] 1 events for @donna: 1 new messages',
        '- 1 new messages (latest: "please review" from @operator)',
        `Subscription: ${id}`,
        'Window: 30s',
      ].join('\n'),
    },
  })
})

// S1-27
test('a burst of five hundred tasks is one digest', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock } })
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const { id } = await gateway.subscribe(donna, receiver.url, {
    harnessTargetMetadata: { coalesceWindow: 60, coalesceMode: 'window' },
  })
  await sendMany(gateway, 'donna', 500)
  await flush(clock, receiver, 1, 60_000)
  const { body } = receiver.wakes[0]!
  expect(body.payload).toMatchObject({ eventCount: 500, newMessages: 0, taskTransitions: 500, refsTruncated: true })
  expect(body.payload.refs).toHaveLength(100)
  expect(body.payload.toLogId).toBe(body.logId)
  expect(body.payload.refs[0].logId).toBe(body.payload.fromLogId)

  await quiet(gateway, donna, id, body.logId)
  await gateway.send('donna', 'one more')
  await flush(clock, receiver, 2, 60_000)
  expect(receiver.wakes.map((wake) => wake.body.payload.eventCount)).toEqual([500, 1])
  expect(receiver.wakes[1]!.body.prevLogId).toBe(body.logId)
})

test('window 0 sends each event at once', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock } })
  await using receiver = await startReceiver()
  await gateway.subscribe(await gateway.addAgent('donna'), receiver.url, { trigger: 'SENT_TO_ME' })
  await sendMany(gateway, 'donna', 3)
  const wakes = await receiver.waitFor(3)
  expect(wakes.map(({ body }) => body.eventType)).toEqual(Array(3).fill('wake/sent_to_me'))
})

// D3, D25
test('by default the first event comes at once, then a digest after thirty seconds, then quiet again', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock } })
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const harnessTargetMetadata = { coalesceWindow: undefined as unknown as number }
  const { id } = await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME', harnessTargetMetadata })
  await gateway.send('donna', 'first')
  const [first] = await receiver.waitFor(1)
  expect(first!.body).toMatchObject({ eventType: 'wake/sent_to_me', payload: { subject: 'first' } })
  await quiet(gateway, donna, id, first!.body.logId)

  await sendMany(gateway, 'donna', 4)
  expect(receiver.wakes).toHaveLength(1)
  await flush(clock, receiver, 2)
  expect(receiver.wakes[1]!.body).toMatchObject({ eventType: 'wake/digest', payload: { eventCount: 4 } })
  await quiet(gateway, donna, id, receiver.wakes[1]!.body.logId)

  clock.advance(30_001)
  await gateway.send('donna', 'after a quiet spell')
  await until(
    () => receiver.wakes.length,
    (count) => count === 3,
  )
  expect(receiver.wakes[2]!.body.payload.subject).toBe('after a quiet spell')
  expect(receiver.wakes.slice(1).map(({ body }) => body.prevLogId)).toEqual(
    receiver.wakes.slice(0, 2).map(({ body }) => body.logId),
  )
})

test.each(['window', 'leading'])('a coalesced resync in %s mode is one digest', async (coalesceMode) => {
  // S1-32
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock } })
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const harnessTargetMetadata = { coalesceWindow: 30, coalesceMode }
  const { id } = await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME', harnessTargetMetadata })
  const { cursorLogId } = await stateOf(gateway, donna, id)
  await sendMany(gateway, 'donna', 5)
  await advanceUntil(
    clock,
    30_000,
    async () => (await stateOf(gateway, donna, id)).lastEmittedLogId ?? 0,
    (logId) => logId >= cursorLogId + 9,
  )
  const before = receiver.wakes.length

  expect((await resync(gateway, donna, id, cursorLogId)).body).toMatchObject({ eventsReplayed: 5 })
  await advanceUntil(
    clock,
    0,
    () => receiver.wakes.length,
    (count) => count > before,
  )
  expect(receiver.wakes.slice(before).map(({ body }) => body.payload.eventCount)).toEqual([5])
})

test('a window that is open shrinks with the setting', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock } })
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const { id } = await gateway.subscribe(donna, receiver.url, {
    harnessTargetMetadata: { coalesceWindow: 300, coalesceMode: 'window' },
  })
  await gateway.send('donna', 'waits')
  await patch(gateway, donna, id, { harnessTargetMetadata: { coalesceWindow: 0 } })
  await receiver.waitFor(1)
  expect(receiver.wakes[0]!.body.eventType).toBe('wake/task_state_changed')
})

test('a change of another field leaves the window open', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock } })
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const { id } = await gateway.subscribe(donna, receiver.url, {
    harnessTargetMetadata: { coalesceWindow: 30, coalesceMode: 'window' },
  })
  await gateway.send('donna', 'waits')
  clock.advance(20_000)
  await patch(gateway, donna, id, { rotateSigningKey: true })
  expect(receiver.wakes).toHaveLength(0)
  await flush(clock, receiver, 1, 10_000)
  expect(receiver.wakes[0]!.body.payload.summary).toContain('Window: 30s')
})

// S1-39
test.each([-1, 300.5, 301, '30', Number.NaN])('a window of %s is refused', async (coalesceWindow) => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const answer = await gateway.call(
    'POST',
    '/v1/wake-subscriptions',
    { trigger: 'SENT_TO_ME', harnessTargetMetadata: { url: 'http://127.0.0.1:9/', coalesceWindow: coalesceWindow } },
    { key: donna.key },
  )
  // NaN is null on the wire, and null is the default.
  if (Number.isNaN(coalesceWindow)) return expect(answer.status).toBe(201)
  expect(answer.status).toBe(400)
  expect(answer.body).toMatchObject({ code: 'invalid-request', field: 'harnessTargetMetadata.coalesceWindow' })
})
