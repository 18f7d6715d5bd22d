import { expect, test } from 'vitest'
import { quietMs } from '../../src/needs/telling.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'

const minute = 60_000
/** Short, so that a receiver has the time to answer each of its tries. */
const stepMs = 100
const pauseMs = 5

async function watchNeeds(gateway: TestGateway, url: string, headers: Record<string, string> = {}): Promise<void> {
  const request = { trigger: 'NEED_CHANGED', harnessTargetMetadata: { url, coalesceWindow: 0 } }
  const { status } = await gateway.call('POST', '/v1/wake-subscriptions', request, { headers })
  expect(status).toBe(201)
}

/** Waits for as many wakes, while the time of the gateway goes on. */
async function wakesOf(watch: Receiver, count: number, clock: FakeClock): Promise<string[]> {
  await until(
    () => {
      clock.advance(stepMs)
      return watch.wakes.length
    },
    (found) => found >= count,
    30_000,
    pauseMs,
  )
  return watch.wakes.map(({ body: { payload } }) => `${payload.change} ${payload.kind} ${payload.agent}`)
}

const mail = (gateway: TestGateway, sender: TestAgent, to = '@donna') =>
  gateway.call('POST', '/v1/messages', { to, subject: 'Lunch?' }, sender)

const needsOf = async (gateway: TestGateway) => (await gateway.call('GET', '/v1/needs')).body.needs

/** Waits until an event has failed, and not only its first tries. */
const untilFailing = (gateway: TestGateway, clock: FakeClock) =>
  until(
    async () => {
      clock.advance(stepMs)
      return needsOf(gateway)
    },
    (needs) => needs.some(({ kind }: { kind: string }) => kind === 'failing'),
    30_000,
    pauseMs,
  )

async function openOffice(gateway: TestGateway, url: string) {
  const donna = await gateway.addAgent('donna')
  const lola = await gateway.addAgent('lola')
  const { id } = await gateway.subscribe(donna, url, { trigger: 'SENT_TO_ME', harnessTargetMetadata: { probe: false } })
  return { donna, lola, id }
}

test('an operator is told of the first failure of a receiver, of the end of its wakes, and of its recovery, each once', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock } })
  await using watch = await startReceiver()
  await using receiver = await startReceiver(503)
  const { donna, lola, id } = await openOffice(gateway, receiver.url)
  await watchNeeds(gateway, watch.url)
  await mail(gateway, lola)
  expect(await wakesOf(watch, 1, clock)).toEqual(['raised failing @donna'])
  const { body } = watch.wakes[0]!
  expect(body).toMatchObject({ eventType: 'wake/need_changed', agentIdentity: '@operator' })
  expect(body.payload).toMatchObject({ need: id, subscriptionId: id, since: expect.any(String) })
  expect(body.payload.subject).toBe('1 event has failed (http-503). After 3 nothing more is sent.')
  expect(await needsOf(gateway)).toMatchObject([{ id, kind: 'failing', agent: '@donna' }])

  await mail(gateway, lola)
  await mail(gateway, lola)
  expect(await wakesOf(watch, 2, clock)).toEqual(['raised failing @donna', 'raised degraded @donna'])
  receiver.respond(200)
  await gateway.call('PATCH', `/v1/wake-subscriptions/${id}`, { status: 'active' }, donna)
  expect((await wakesOf(watch, 3, clock)).at(-1)).toBe('cleared degraded @donna')
  expect(await needsOf(gateway)).toEqual([])
})

test('a receiver that comes and goes is told at most every quarter of an hour, and what lasts is told then', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock } })
  await using watch = await startReceiver()
  await using receiver = await startReceiver(503)
  const { donna, lola } = await openOffice(gateway, receiver.url)
  await watchNeeds(gateway, watch.url)
  await mail(gateway, lola)
  await wakesOf(watch, 1, clock)
  receiver.respond(200)
  await mail(gateway, lola)
  expect(await wakesOf(watch, 2, clock)).toEqual(['raised failing @donna', 'cleared failing @donna'])
  receiver.respond(503)
  await mail(gateway, lola)
  await untilFailing(gateway, clock)
  // Another need is told meanwhile: the sweep has looked, and has not told the receiver's again.
  await gateway.call('POST', '/v1/messages', { to: '@operator', subject: 'May I?' }, donna)
  expect((await wakesOf(watch, 3, clock)).at(-1)).toBe('raised mail @donna')
  clock.advance(quietMs)
  expect((await wakesOf(watch, 4, clock)).at(-1)).toBe('raised failing @donna')
})

test('questions, approvals and limits are told and cleared too, with the beginning of their text and no more', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock } })
  await using watch = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const lola = await gateway.addAgent('lola')
  await watchNeeds(gateway, watch.url)
  const { id } = await gateway.send('donna', 'deploy', { key: lola.key })
  await gateway.move(donna, id, 'input-required', { message: `Where?\n${'x'.repeat(300)}` })
  expect(await wakesOf(watch, 1, clock)).toEqual(['raised input @donna'])
  const { payload } = watch.wakes[0]!.body
  expect(payload).toMatchObject({ need: `${id}@2`, taskId: id })
  expect(payload.subject).toMatch(/^Where\? x{100,}/)
  expect(payload.subject.length).toBeLessThanOrEqual(200)
  await gateway.send('donna', 'Here.', { key: lola.key, message: { taskId: id } })
  expect(await wakesOf(watch, 2, clock)).toEqual(['raised input @donna', 'cleared input @donna'])
  // It asks again at once: another question.
  await gateway.move(donna, id, 'input-required', { message: 'And when?' })
  expect((await wakesOf(watch, 3, clock)).at(-1)).toBe('raised input @donna')
  await gateway.call('PUT', '/v1/parked', { until: null, reason: 'spend-cap' }, lola)
  expect((await wakesOf(watch, 4, clock)).at(-1)).toBe('raised parked @lola')
})

test('what was put off is not told until then, stays in the list, and is told when it becomes worse', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock } })
  await using watch = await startReceiver()
  await using receiver = await startReceiver(503)
  const { donna, lola, id } = await openOffice(gateway, receiver.url)
  const { body: sent } = await gateway.call('POST', '/v1/messages', { to: '@operator', subject: 'May I?' }, donna)
  await mail(gateway, lola)
  await untilFailing(gateway, clock)
  const snooze = (need: string, until: number | null) =>
    gateway.call('POST', '/v1/needs/snooze', { need, until: until === null ? null : new Date(until).toISOString() })
  const offUntil = clock.now() + 60 * minute
  for (const need of [id, sent.messageId]) {
    const { status, body } = await snooze(need, offUntil)
    expect([status, body]).toEqual([200, { need, snoozedUntil: new Date(offUntil).toISOString() }])
  }
  await watchNeeds(gateway, watch.url)
  const { id: task } = await gateway.send('donna', 'deploy', { key: lola.key })
  await gateway.move(donna, task, 'auth-required', { message: 'Sign in.' })
  expect(await wakesOf(watch, 1, clock)).toEqual(['raised auth @donna'])
  expect(await needsOf(gateway)).toMatchObject([
    { kind: 'auth' },
    { kind: 'failing', snoozedUntil: new Date(offUntil).toISOString() },
    { kind: 'mail', snoozedUntil: new Date(offUntil).toISOString() },
  ])
  // An agent sees no snoozes.
  const { body: own } = await gateway.call('GET', '/v1/needs', undefined, donna)
  expect(own.needs.every((need: object) => !('snoozedUntil' in need))).toBe(true)

  await mail(gateway, lola)
  await mail(gateway, lola)
  expect((await wakesOf(watch, 2, clock)).at(-1)).toBe('raised degraded @donna')
  expect((await needsOf(gateway)).find(({ kind }: { kind: string }) => kind === 'degraded').snoozedUntil).toBe(
    undefined,
  )
  clock.advance(60 * minute)
  expect((await wakesOf(watch, 3, clock)).at(-1)).toBe('raised mail @donna')
})

test.each([
  ['an instant that is past', { until: '2020-01-01T00:00:00.000Z' }, 400, 'until'],
  ['one that is too far ahead', { until: '2036-01-01T00:00:00.000Z' }, 400, 'until'],
  ['a need that does not wait', { need: 'nothing' }, 404, 'need'],
])('a snooze with %s is refused', async (_, fields, status, field) => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const { body: sent } = await gateway.call('POST', '/v1/messages', { to: '@operator', subject: 'May I?' }, donna)
  const request = { need: sent.messageId, until: null, ...fields }
  const answer = await gateway.call('POST', '/v1/needs/snooze', request)
  expect(answer).toMatchObject({ status, body: { field } })
})

test('needs of one project are told to its operators alone, and an agent cannot listen to them', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock } })
  await using here = await startReceiver()
  await using elsewhere = await startReceiver()
  const donna = await gateway.addAgent('donna')
  await gateway.call('POST', '/v1/projects', { project: 'web' })
  await watchNeeds(gateway, elsewhere.url, { 'Rouse-Project': 'web' })
  await watchNeeds(gateway, here.url)
  await gateway.call('POST', '/v1/messages', { to: '@operator', subject: 'May I?' }, donna)
  expect(await wakesOf(here, 1, clock)).toEqual(['raised mail @donna'])
  expect(elsewhere.wakes).toEqual([])
  const request = { trigger: 'NEED_CHANGED', harnessTarget: 'bridge-daemon' }
  for (const [body, key] of [
    [request, donna.key],
    [{ ...request, agentIdentity: '@donna' }, gateway.adminKey],
  ] as const) {
    const answer = await gateway.call('POST', '/v1/wake-subscriptions', body, { key })
    expect(answer).toMatchObject({ status: 400, body: { field: 'trigger' } })
  }
})
