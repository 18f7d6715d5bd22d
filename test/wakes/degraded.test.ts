import { expect, test } from 'vitest'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import { advanceUntil, deliveriesOf, eventsOf, patch, stateOf, untilStatus } from './acts.ts'

const recover = async (gateway: TestGateway, agent: TestAgent, id: string) => {
  const answer = await patch(gateway, agent, id, { status: 'active' })
  expect(answer.status).toBe(200)
  return answer.body.currentState
}

// S1-34, S1-42, D5
test.each([0, 30])(
  'three failed events in a row degrade; recovery is one digest (window %i)',
  async (coalesceWindow) => {
    const clock = new FakeClock()
    await using gateway = await startGateway({ overrides: { clock, random: () => 0 } })
    await using receiver = await startReceiver(500)
    const donna = await gateway.addAgent('donna')
    const harnessTargetMetadata = { coalesceWindow, coalesceMode: 'window', probe: false }
    const { id } = await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME', harnessTargetMetadata })
    for (let event = 1; event <= 3; event++) {
      await gateway.send('donna', `lost ${event}`)
      await advanceUntil(
        clock,
        5000,
        () => stateOf(gateway, donna, id),
        ({ failedInARow }) => failedInARow === event,
      )
    }
    const degraded = await untilStatus(gateway, donna, id, 'degraded')
    expect(degraded).toMatchObject({
      reason: '3 events failed in a row; the last: http-500',
      harnessTarget: 'a2a-webhook', // D1
    })
    expect(receiver.wakes).toHaveLength(12)
    expect((await eventsOf(gateway, 'subscription.degraded')).map(({ data }) => data)).toMatchObject([
      { subscriptionId: id, reason: degraded.reason },
    ])

    receiver.respond(200)
    for (let event = 1; event <= 4; event++) await gateway.send('donna', `kept ${event}`)
    await advanceUntil(
      clock,
      600_000,
      () => clock.now(),
      (now) => now > Date.parse('2026-04-26T12:00:00.000Z'),
    )
    expect(receiver.wakes).toHaveLength(12)

    expect(await recover(gateway, donna, id)).toMatchObject({ status: 'active', reason: null, failedInARow: 0 })
    const wakes = await receiver.waitFor(13)
    expect(wakes[12]!.body).toMatchObject({
      eventType: 'wake/digest',
      // D30: what failed on the way is part of the recovery. No event had arrived before.
      prevLogId: null,
      payload: { eventCount: 7, newMessages: 7, latestMessage: { subject: 'kept 4' } },
    })
    const [recovered] = await eventsOf(gateway, 'subscription.recovered')
    expect(recovered.data).toMatchObject({ subscriptionId: id, reason: degraded.reason })

    await until(
      () => stateOf(gateway, donna, id),
      ({ lastEmittedLogId }) => lastEmittedLogId === wakes[12]!.body.logId,
    )
    await gateway.send('donna', 'as before')
    await advanceUntil(
      clock,
      coalesceWindow * 1000,
      async () => {
        await stateOf(gateway, donna, id)
        return receiver.wakes.length
      },
      (count) => count === 14,
    )
    expect(receiver.wakes[13]!.body.eventType).toBe(coalesceWindow ? 'wake/digest' : 'wake/sent_to_me')
  },
)

test.each([
  [400, 'http-400'],
  [401, 'http-401'],
  [404, 'http-404'],
  [410, 'gone'],
])('a %i degrades at once with the reason %s, and the event is not lost', async (status, reason) => {
  // S1-34, D4
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock } })
  await using receiver = await startReceiver(status)
  const donna = await gateway.addAgent('donna')
  const harnessTargetMetadata = { probe: false }
  const { id } = await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME', harnessTargetMetadata })
  await gateway.send('donna', 'refused')
  expect(await untilStatus(gateway, donna, id, 'degraded')).toMatchObject({ reason, lastEmittedLogId: null })
  expect(await deliveriesOf(gateway, donna, id)).toMatchObject([{ outcome: 'rejected', attempts: [{ status }] }])
  await gateway.send('donna', 'not even tried')
  clock.advance(600_000)
  await stateOf(gateway, donna, id)
  expect(receiver.wakes).toHaveLength(1)

  receiver.respond(200)
  await recover(gateway, donna, id)
  const [refused, digest] = await receiver.waitFor(2)
  expect(digest!.body).toMatchObject({ eventType: 'wake/digest', prevLogId: null, payload: { eventCount: 2 } })
  expect(digest!.body.payload.fromLogId).toBe(refused!.body.logId)
  expect(digest!.body.eventId).not.toBe(refused!.body.eventId)
})

test('a receiver that still refuses degrades again, and a second recovery is a new emission', async () => {
  // No time passes, so that the emissions differ only in their generation.
  await using gateway = await startGateway({ overrides: { clock: new FakeClock() } })
  await using receiver = await startReceiver(403)
  const donna = await gateway.addAgent('donna')
  const { id } = await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME' })
  await gateway.send('donna', 'refused')
  for (const count of [1, 2, 3]) {
    await receiver.waitFor(count)
    await untilStatus(gateway, donna, id, 'degraded')
    if (count < 3) await recover(gateway, donna, id)
  }
  expect(new Set(receiver.wakes.map(({ body }) => body.eventId)).size).toBe(3)
  expect(await eventsOf(gateway, 'subscription.degraded')).toHaveLength(3)
})

test('a success between failures resets the count', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock, random: () => 0 } })
  const fails = (subject: string) => subject.startsWith('fail')
  await using receiver = await startReceiver(({ body }, res) =>
    res.writeHead(fails(body.payload.subject) ? 500 : 200).end(),
  )
  const donna = await gateway.addAgent('donna')
  const { id } = await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME' })
  const inARow = { 'fail 1': 1, 'fail 2': 2, fine: 0, 'fail 3': 1, 'fail 4': 2, 'fine too': 0 }
  for (const [subject, failedInARow] of Object.entries(inARow)) {
    await gateway.send('donna', subject)
    await advanceUntil(
      clock,
      1000,
      () => stateOf(gateway, donna, id),
      (state) => state.failedInARow === failedInARow,
    )
  }
  expect(await stateOf(gateway, donna, id)).toMatchObject({ status: 'active' })
})

test('a paused subscription keeps its events; when it is active again it sends them in one digest', async () => {
  await using gateway = await startGateway()
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const { id } = await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME' })
  expect((await patch(gateway, donna, id, { status: 'paused' })).body.currentState.status).toBe('paused')
  for (const subject of ['a', 'b', 'c']) await gateway.send('donna', subject)
  expect(receiver.wakes).toHaveLength(0)
  await recover(gateway, donna, id)
  const [digest] = await receiver.waitFor(1)
  expect(digest!.body).toMatchObject({ eventType: 'wake/digest', prevLogId: null, payload: { eventCount: 3 } })
  expect(await eventsOf(gateway, 'subscription.recovered')).toHaveLength(0)
  await gateway.send('donna', 'd')
  const wakes = await receiver.waitFor(2)
  expect(wakes[1]!.body).toMatchObject({ eventType: 'wake/sent_to_me', prevLogId: digest!.body.logId })
})

// D30
test('a recovery begins after the last event that arrived, and keeps the hole of one that failed alone before', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock, random: () => 0 } })
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const { id } = await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME' })
  const fail = async (subject: string, failedInARow: number) => {
    receiver.respond(500)
    await gateway.send('donna', subject)
    await advanceUntil(
      clock,
      5000,
      () => stateOf(gateway, donna, id),
      (state) => state.failedInARow === failedInARow,
    )
  }
  await fail('a hole', 1)
  receiver.respond(200)
  await gateway.send('donna', 'arrives')
  const arrived = (await until(
    () => stateOf(gateway, donna, id),
    ({ failedInARow }) => failedInARow === 0,
  ))!.lastEmittedLogId
  for (const [index, subject] of ['lost 1', 'lost 2', 'lost 3'].entries()) await fail(subject, index + 1)
  await untilStatus(gateway, donna, id, 'degraded')
  await gateway.send('donna', 'while away')

  const before = receiver.wakes.length
  receiver.respond(200)
  await recover(gateway, donna, id)
  const digest = (await receiver.waitFor(before + 1)).at(-1)!.body
  expect(digest).toMatchObject({ eventType: 'wake/digest', prevLogId: arrived, payload: { eventCount: 4 } })
  await until(
    () => stateOf(gateway, donna, id),
    ({ lastEmittedLogId }) => lastEmittedLogId === digest.logId,
  )
  await gateway.send('donna', 'as before')
  const next = (await receiver.waitFor(before + 2)).at(-1)!.body
  expect(next).toMatchObject({ eventType: 'wake/sent_to_me', prevLogId: digest.logId })
})

// D30
test('a change of the filters while degraded leaves out nothing of the recovery', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock, random: () => 0 } })
  await using receiver = await startReceiver(500)
  const donna = await gateway.addAgent('donna')
  const { id } = await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME' })
  for (let event = 1; event <= 3; event++) {
    await gateway.send('donna', `lost ${event}`)
    await advanceUntil(
      clock,
      5000,
      () => stateOf(gateway, donna, id),
      ({ failedInARow }) => failedInARow === event,
    )
  }
  await untilStatus(gateway, donna, id, 'degraded')
  const tried = receiver.wakes.length
  expect((await patch(gateway, donna, id, { filters: { priority: 'normal' } })).status).toBe(200)
  receiver.respond(200)
  await recover(gateway, donna, id)
  const digest = (await receiver.waitFor(tried + 1)).at(-1)!.body
  expect(digest).toMatchObject({ eventType: 'wake/digest', payload: { eventCount: 3 } })
})
