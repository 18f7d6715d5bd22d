import { describe, expect, test } from 'vitest'
import { at, begin, minute } from '../sessions/sessions.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import { readWakes } from '../support/wake-reader.ts'
import { advanceUntil, deliveriesOf, type Json, stateOf, untilStatus } from '../wakes/acts.ts'

const mail = (gateway: TestGateway, subject: string, fields: Json = {}) =>
  gateway.call('POST', '/v1/messages', { to: '@donna', subject, ...fields })

const digestsOf = ({ wakes }: Receiver): Json[] =>
  wakes.map(({ body }) => body).filter(({ payload }) => payload.reason === 'waiting')

const markAll = async (gateway: TestGateway, agent: TestAgent): Promise<void> => {
  const { body } = await gateway.call('GET', '/v1/inbox?unread=true', undefined, { key: agent.key })
  for (const { messageId } of body.messages) {
    await gateway.call('POST', `/v1/messages/${messageId}/status`, { status: 'seen' }, { key: agent.key })
  }
}

// D29
describe('what waits when a subscription is made', () => {
  test('is one digest, with its reason, and what comes next goes on from it', async () => {
    await using gateway = await startGateway()
    await using receiver = await startReceiver()
    const donna = await gateway.addAgent('donna')
    await mail(gateway, 'first')
    await gateway.send('donna', 'a task')
    await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME' })
    const [digest] = await receiver.waitFor(1)
    expect(digest!.body).toMatchObject({
      eventType: 'wake/digest',
      prevLogId: null,
      payload: { reason: 'waiting', eventCount: 2, newMessages: 2, latestMessage: { subject: 'a task' } },
    })
    await mail(gateway, 'next')
    const [, next] = await receiver.waitFor(2)
    expect(next!.body).toMatchObject({ prevLogId: digest!.body.logId, payload: { subject: 'next' } })
  })

  test('comes after the answer that carries the signing key', async () => {
    const clock = new FakeClock()
    await using gateway = await startGateway({ overrides: { clock } })
    await using receiver = await startReceiver()
    const donna = await gateway.addAgent('donna')
    await mail(gateway, 'first')
    const { id } = await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME' })
    expect(await stateOf(gateway, donna, id)).toMatchObject({ status: 'active', lastEmittedLogId: null })
    await advanceUntil(
      clock,
      250,
      () => receiver.wakes.length,
      (count) => count === 1,
    )
  })

  test('is nothing where all is read, or where it starts from now', async () => {
    await using gateway = await startGateway()
    await using receiver = await startReceiver()
    const donna = await gateway.addAgent('donna')
    await mail(gateway, 'read')
    await markAll(gateway, donna)
    await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME' })
    await mail(gateway, 'unread')
    await receiver.waitFor(1)
    await using second = await startReceiver()
    await gateway.subscribe(donna, second.url, { trigger: 'SENT_TO_ME', startFrom: 'now' })
    await mail(gateway, 'later')
    const [wake] = await second.waitFor(1)
    expect(wake!.body.payload.subject).toBe('later')
    expect(digestsOf(receiver)).toEqual([])
  })

  test('has the open tasks whose mail is read, and not those that wait for their originator', async () => {
    await using gateway = await startGateway()
    await using receiver = await startReceiver()
    const donna = await gateway.addAgent('donna')
    const open = await gateway.send('donna', 'to do')
    const question = await gateway.send('donna', 'a question')
    await gateway.move(donna, question.id, 'working')
    await gateway.move(donna, question.id, 'input-required')
    await markAll(gateway, donna)
    await gateway.subscribe(donna, receiver.url, { trigger: 'TASK_STATE_CHANGED' })
    const [digest] = await receiver.waitFor(1)
    expect(digest!.body.payload).toMatchObject({ reason: 'waiting', eventCount: 1, taskTransitions: 1 })
    expect(digest!.body.payload.refs.map(({ taskId }: Json) => taskId)).toEqual([open.id])
  })

  test('passes the filters, and keeps what was sent silently', async () => {
    await using gateway = await startGateway()
    await using receiver = await startReceiver()
    const donna = await gateway.addAgent('donna')
    await mail(gateway, 'low', { priority: 'low' })
    await mail(gateway, 'silent', { priority: 'high', wakePolicy: 'silent' })
    await mail(gateway, 'high', { priority: 'high' })
    await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME', filters: { priority: 'high' } })
    const [digest] = await receiver.waitFor(1)
    expect(digest!.body.payload).toMatchObject({ eventCount: 1, latestMessage: { subject: 'high' } })
  })

  test('is announced once by several subscriptions of one receiver', async () => {
    await using gateway = await startGateway()
    await using receiver = await startReceiver()
    const donna = await gateway.addAgent('donna')
    await gateway.send('donna', 'a task')
    await gateway.subscribe(donna, receiver.url, { trigger: 'TASK_STATE_CHANGED' })
    await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME' })
    await receiver.waitFor(1)
    await mail(gateway, 'later')
    await receiver.waitFor(2)
    expect(digestsOf(receiver).length).toBe(1)
  })
})

// D29, D31
describe('what waits when a session starts', () => {
  test('is one digest of all unread mail, whatever has announced it before', async () => {
    await using gateway = await startGateway()
    await using receiver = await startReceiver()
    const donna = await gateway.addAgent('donna')
    const { id } = await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME' })
    for (const subject of ['one', 'two']) await mail(gateway, subject)
    await until(
      () => deliveriesOf(gateway, donna, id),
      (deliveries) => deliveries.filter(({ outcome }) => outcome === 'delivered').length === 2,
    )
    await begin(gateway, donna, { pid: 1, startedAt: at(Date.now() - minute) })
    const wakes = await receiver.waitFor(3)
    expect(wakes[2]!.body).toMatchObject({ payload: { reason: 'waiting', eventCount: 2 } })
    expect(wakes[2]!.body.logId).toBe(wakes[1]!.body.logId)
    await mail(gateway, 'three')
    expect((await receiver.waitFor(4))[3]!.body.prevLogId).toBe(wakes[2]!.body.logId)
  })

  test('is one digest after a minute away with ten messages', async () => {
    const clock = new FakeClock()
    await using gateway = await startGateway({ overrides: { clock } })
    await using receiver = await startReceiver(503)
    const donna = await gateway.addAgent('donna')
    const { id } = await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME' })
    for (let count = 0; count < 10; count++) await mail(gateway, `message ${count}`)
    await advanceUntil(
      clock,
      2_000,
      () => stateOf(gateway, donna, id),
      ({ status }) => status === 'degraded',
    )
    const tries = receiver.wakes.length
    receiver.respond(200)
    await begin(gateway, donna, { drain: false })
    const digest = (await receiver.waitFor(tries + 1))[tries]
    expect(digest!.body.payload).toMatchObject({ reason: 'waiting', eventCount: 10 })
    await untilStatus(gateway, donna, id, 'active', clock)
    expect(receiver.wakes.length).toBe(tries + 1)
  })
})

describe('what waits when a stream connects', () => {
  test('has the unread mail from before the subscription was made', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    await mail(gateway, 'before')
    const request = { trigger: 'SENT_TO_ME', harnessTarget: 'bridge-daemon' }
    const { body } = await gateway.call('POST', '/v1/wake-subscriptions', request, { key: donna.key })
    await mail(gateway, 'between')
    await using reader = await readWakes(gateway, donna, [body.subscriptionId])
    const [digest] = await reader.waitFor(1)
    expect(digest!.body.payload).toMatchObject({ reason: 'waiting', eventCount: 2 })
    await reader.report(digest!.eventId, 'delivered')
    await until(
      () => stateOf(gateway, donna, body.subscriptionId),
      ({ lastEmittedLogId }) => lastEmittedLogId === digest!.body.logId,
    )
  })
})
