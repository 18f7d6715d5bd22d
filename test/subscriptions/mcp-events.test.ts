import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventsEnv, secret, startCallback } from '../fronts/mcp/events/rpc.ts'
import { dataDirectory } from '../support/data-directory.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'
import { besideStore } from '../support/store.ts'
import { until } from '../support/until.ts'

const day = 24 * 3_600_000
type Subscribed = { id: string; cursor: string; refreshBefore: string; truncated: boolean }

const subscribe = async (
  gateway: TestGateway,
  agent: TestAgent,
  url: string,
  more: object = {},
): Promise<Subscribed> => {
  const body = { name: 'mail.received', url, secret, ...more }
  const answer = await gateway.call('POST', '/v1/event-subscriptions', body, { key: agent.key })
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
  return answer.body
}
const mail = (gateway: TestGateway, from: TestAgent, to: TestAgent, subject: string) =>
  gateway.call('POST', '/v1/messages', { to: to.handle, subject, body: 'text' }, { key: from.key })
const subjectsOf = (callback: Awaited<ReturnType<typeof startCallback>>): string[] =>
  callback.events.map(({ data }) => data.subject)
const heard = (callback: Awaited<ReturnType<typeof startCallback>>, count: number) =>
  until(
    () => callback.events.length,
    (n) => n >= count,
  )

describe('with a clock of its own', () => {
  let clock: FakeClock
  let gateway: TestGateway
  let [donna, lola]: TestAgent[] = []
  beforeAll(async () => {
    clock = new FakeClock()
    gateway = await startGateway({ env: eventsEnv, overrides: { clock } })
    donna = await gateway.addAgent('donna')
    lola = await gateway.addAgent('lola')
  })
  afterAll(() => gateway?.[Symbol.asyncDispose]())

  test('nothing is sent after its time, and it is removed; its client comes back with its cursor, and misses nothing', async () => {
    await using callback = await startCallback()
    // A fraction of a millisecond is no reason to refuse a wish.
    const { cursor, refreshBefore } = await subscribe(gateway, donna!, callback.url, { ttlMs: 60_000.4 })
    expect(Date.parse(refreshBefore)).toBe(clock.now() + 60_000)
    clock.advance(60_001)
    await mail(gateway, lola!, donna!, 'too late')
    const list = async () => {
      clock.advance(2_000)
      return (await gateway.call('GET', '/v1/wake-subscriptions', undefined, { key: donna!.key })).body.subscriptions
    }
    await until(list, (all) => all.length === 0)
    expect(callback.events).toEqual([])
    // The receiver is known no more: it is asked again.
    const again = await subscribe(gateway, donna!, callback.url, { cursor })
    expect(again.truncated).toBe(false)
    await heard(callback, 1)
    expect(subjectsOf(callback)).toEqual(['too late'])
    expect(callback.heard.filter(({ body }) => body.type === 'verification')).toHaveLength(2)
  })

  test('a receiver proves itself again after a day, and a subscription that is refreshed lives on', async () => {
    await using callback = await startCallback()
    const challenges = () => callback.heard.filter(({ body }) => body.type === 'verification').length
    await subscribe(gateway, donna!, callback.url, { ttlMs: 10 * day })
    clock.advance(day - 1_000)
    await subscribe(gateway, donna!, callback.url, { ttlMs: 10 * day })
    expect(challenges()).toBe(1)
    clock.advance(2_000)
    await subscribe(gateway, donna!, callback.url, { ttlMs: 10 * day })
    expect(challenges()).toBe(2)
  })

  test('events from before an age are left out, and that is said', async () => {
    await using callback = await startCallback()
    const poll = async (more: object) =>
      (await gateway.call('POST', '/v1/event-types/poll', { name: 'mail.received', ...more }, { key: donna!.key })).body
    const { cursor } = await poll({})
    await mail(gateway, lola!, donna!, 'old')
    clock.advance(3_600_000)
    await mail(gateway, lola!, donna!, 'young')
    expect(await poll({ cursor, maxAgeMs: 60_000 })).toMatchObject({
      truncated: true,
      events: [{ data: { subject: 'young' } }],
    })
    expect(await poll({ cursor, maxAgeMs: 2 * 3_600_000 })).toMatchObject({
      truncated: false,
      events: [{ data: { subject: 'old' } }, { data: { subject: 'young' } }],
    })
    const made = await subscribe(gateway, donna!, callback.url, { cursor, maxAgeMs: 60_000 })
    expect(made.truncated).toBe(true)
    await heard(callback, 1)
    expect(subjectsOf(callback)).toEqual(['young'])
  })

  test.each([
    '',
    'no cursor',
    Buffer.from('99999999.default').toString('base64url'),
    Buffer.from('1.web').toString('base64url'),
  ])('the cursor %j begins with the oldest event that is kept, and says so', async (cursor) => {
    const { body } = await gateway.call(
      'POST',
      '/v1/event-types/poll',
      { name: 'mail.received', cursor, maxEvents: 1 },
      { key: donna!.key },
    )
    expect(body).toMatchObject({ truncated: true, events: [{ data: { subject: 'too late' } }] })
  })
})

test('a subscription survives a restart, without another challenge', async () => {
  using directory = dataDirectory()
  await using callback = await startCallback()
  const options = { env: eventsEnv, dataDir: directory.path }
  const before = await startGateway(options)
  const donna = await before.addAgent('donna')
  const lola = await before.addAgent('lola')
  await subscribe(before, donna, callback.url)
  await before.stop()
  await using after = await startGateway(options)
  await mail(after, lola, donna, 'after the restart')
  await heard(callback, 1)
  await subscribe(after, donna, callback.url)
  expect(callback.heard.map(({ body }) => body.type ?? body.name)).toEqual(['verification', 'mail.received'])
})

test('an event that is tried again for long does not hold the others up, and the cursor waits for it', async () => {
  await using gateway = await startGateway({ env: eventsEnv })
  const donna = await gateway.addAgent('donna')
  const lola = await gateway.addAgent('lola')
  await using callback = await startCallback()
  await subscribe(gateway, donna, callback.url)
  callback.respond(503)
  await mail(gateway, lola, donna, 'first')
  await heard(callback, 1)
  callback.respond(204)
  for (const subject of ['second', 'third']) await mail(gateway, lola, donna, subject)
  await heard(callback, 4)
  // Until the first one is done, its receiver keeps the cursor before it.
  const second = callback.events.find(({ data }) => data.subject === 'second')
  const poll = { name: 'mail.received', cursor: second.cursor }
  const { body } = await gateway.call('POST', '/v1/event-types/poll', poll, { key: donna.key })
  expect(body.events.map(({ data }: { data: { subject: string } }) => data.subject)).toEqual([
    'first',
    'second',
    'third',
  ])
  expect(new Set(callback.events.map(({ eventId }) => eventId)).size).toBe(3)
})

test('an agent that is removed, and an operator who removes a subscription: its client is told', async () => {
  await using gateway = await startGateway({ env: eventsEnv })
  const donna = await gateway.addAgent('donna')
  await using callback = await startCallback()
  await subscribe(gateway, donna, callback.url)
  await subscribe(gateway, donna, callback.url, { name: 'task.assigned' })
  const { body } = await gateway.call('GET', '/v1/wake-subscriptions')
  const task = body.subscriptions.find(
    (one: { harnessTargetMetadata: { mcpEvent: { name: string } } }) =>
      one.harnessTargetMetadata.mcpEvent.name === 'task.assigned',
  )
  await gateway.call('DELETE', `/v1/wake-subscriptions/${task.subscriptionId}`)
  const reasons = () =>
    callback.heard.filter(({ body: { type } }) => type === 'terminated').map(({ body: { error } }) => error.data.reason)
  await until(reasons, (all) => all.length === 1)
  await gateway.call('DELETE', '/v1/agents/donna')
  await until(reasons, (all) => all.length === 2)
  expect(reasons()).toEqual(['removed', 'agent-removed'])
})

test('a cursor whose events are kept no more: the answer says so, to a poll and to a refresh', async () => {
  await using gateway = await startGateway({ env: eventsEnv })
  const donna = await gateway.addAgent('donna')
  const lola = await gateway.addAgent('lola')
  await using callback = await startCallback()
  const { cursor } = await subscribe(gateway, donna, callback.url)
  const { body } = await gateway.call('GET', '/v1/wake-subscriptions', undefined, { key: donna.key })
  const path = `/v1/wake-subscriptions/${body.subscriptions[0].subscriptionId}`
  await gateway.call('PATCH', path, { status: 'paused' })
  await mail(gateway, lola, donna, 'gone')
  await besideStore(gateway.dataDir, 'update project set log_tail = log_head')
  await besideStore(gateway.dataDir, 'delete from event')
  const poll = { name: 'mail.received', cursor }
  const polled = await gateway.call('POST', '/v1/event-types/poll', poll, { key: donna.key })
  expect(polled.body).toMatchObject({ truncated: true, events: [] })
  expect(await subscribe(gateway, donna, callback.url)).toMatchObject({ truncated: true })
})

test('events that retention removed before they were sent: one message says so, once the subscription is active', async () => {
  const clock = new FakeClock()
  await using callback = await startCallback()
  await using gateway = await startGateway({ env: { ...eventsEnv, ROUSE_RETENTION_DAYS: '1' }, overrides: { clock } })
  const donna = await gateway.addAgent('donna')
  const lola = await gateway.addAgent('lola')
  await subscribe(gateway, donna, callback.url, { ttlMs: 10 * day })
  const { body } = await gateway.call('GET', '/v1/wake-subscriptions', undefined, { key: donna.key })
  const { subscriptionId } = body.subscriptions[0]
  const path = `/v1/wake-subscriptions/${subscriptionId}`
  const gaps = () => callback.heard.filter(({ body: { type } }) => type === 'gap')
  const hasGap = async () => {
    clock.advance(60_000)
    const [row] = await besideStore(gateway.dataDir, 'select has_gap from subscription where id = ?', subscriptionId)
    return Number(row!.has_gap)
  }
  await gateway.call('PATCH', path, { status: 'paused' })
  await mail(gateway, lola, donna, 'gone')
  clock.advance(2 * day)
  await until(hasGap, (value) => value === 1)
  expect(gaps()).toEqual([])
  await gateway.call('PATCH', path, { status: 'active' })
  await until(hasGap, (value) => value === 2)
  await until(gaps, (all) => all.length === 1)
  for (let pass = 0; pass < 3; pass++) await hasGap()
  expect(gaps()).toHaveLength(1)
  expect(gaps()[0]).toMatchObject({
    headers: { 'webhook-id': expect.stringMatching(/^msg_gap_/), 'x-mcp-subscription-id': expect.any(String) },
    body: { type: 'gap', cursor: expect.any(String) },
  })
})

test('a poll that waits is one of the blocking calls, and one that reads far counts as heavy', async () => {
  await using gateway = await startGateway({ env: eventsEnv })
  const donna = await gateway.addAgent('donna')
  const lola = await gateway.addAgent('lola')
  const poll = (more: object) =>
    gateway.call('POST', '/v1/event-types/poll', { name: 'mail.received', ...more }, { key: donna.key })
  const { cursor } = (await poll({})).body
  await gateway.call('PATCH', '/v1/projects/default', { limits: { blockingCalls: 2, heavyPerMinute: 1 } })
  // One key may have half of them: of two that come at once, either may be the second.
  const both = [poll({ timeoutMs: 60_000 }), poll({ timeoutMs: 60_000 })]
  const refused = { status: 429, body: { code: 'limit-exceeded', limit: 'blockingCalls' } }
  expect(await Promise.race(both)).toMatchObject(refused)
  await mail(gateway, lola, donna, 'first')
  const answers = (await Promise.all(both)).toSorted((one, other) => one.status - other.status)
  expect(answers).toMatchObject([{ status: 200, body: { events: [expect.anything()] } }, refused])
  expect((await poll({ timeoutMs: 1 })).status).toBe(200)

  const from = { arguments: { from: ['@nobody'] }, cursor, maxEvents: 1 }
  await Promise.all(Array.from({ length: 210 }, (_, index) => mail(gateway, lola, donna, `${index}`)))
  expect((await poll(from)).body).toMatchObject({ events: [], hasMore: false })
  expect((await poll(from)).body).toMatchObject({ code: 'rate-limited', limitName: 'heavyPerMinute' })
})

test('a host that answers no challenge gets ten in a minute from a project; one that answers is asked on', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ env: eventsEnv, overrides: { clock } })
  await using deaf = await startReceiver(200)
  await using callback = await startCallback()
  const agents = await Promise.all(['donna', 'lola', 'mike'].map((handle) => gateway.addAgent(handle)))
  const ask = (agent: TestAgent, url: string) =>
    gateway.call('POST', '/v1/event-subscriptions', { name: 'mail.received', url, secret }, { key: agent.key })
  for (let time = 0; time < 12; time++) await ask(agents[0]!, `${callback.url}?${time}`)
  for (let time = 0; time < 15; time++) await ask(agents[time % 3]!, `${deaf.url}?${time}`)
  expect(deaf.wakes).toHaveLength(10)
  expect((await ask(agents[1]!, deaf.url)).body).toMatchObject({
    code: 'rate-limited',
    field: 'url',
    limitName: 'challengesPerHost',
    retryAfterSeconds: 6,
  })
  clock.advance(60_000)
  expect((await ask(agents[1]!, deaf.url)).body).toMatchObject({ code: 'callback-not-verified' })
  expect((await ask(agents[2]!, callback.url)).status).toBe(200)
})
