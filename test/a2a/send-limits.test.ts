import { expect, test } from 'vitest'
import { FakeClock } from '../support/fake-clock.ts'
import { type Answer, startGateway, type TestGateway } from '../support/gateway.ts'
import { until } from '../support/until.ts'
import { errorInfo, legacy, sending, wireTo } from './wire.ts'

const noStorms = { ROUSE_STORM_MESSAGES: '0' }

/** Makes this many calls, at most 50 at a time. */
async function many(count: number, call: () => Promise<Answer>): Promise<Answer[]> {
  const answers: Answer[] = []
  const worker = async () => {
    while (count-- > 0) answers.push(await call())
  }
  await Promise.all(Array.from({ length: 50 }, worker))
  return answers
}

async function start(env: Record<string, string> = {}, clock = new FakeClock()) {
  const gateway = await startGateway({ env, overrides: { clock } })
  const mallory = await gateway.addAgent('mallory')
  const bob = await gateway.addAgent('bob')
  const donna = await gateway.addAgent('donna')
  const to = (key: string, agent = donna) => wireTo(gateway, agent, key)
  return { gateway, clock, mallory, bob, donna, to, [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose]() }
}

const events = async (gateway: TestGateway, type: string) =>
  (await gateway.call('GET', '/v1/events?since=0&limit=1000')).body.events.filter(
    (event: { type: string }) => event.type === type,
  )

// D22
test('of 870 tasks that an agent sends at once its rate is accepted, the rest is refused by name, and other agents are served', async () => {
  await using s = await start(noStorms)
  // So many requests at once would be refused themselves.
  await s.gateway.call('PATCH', '/v1/projects/default', { limits: { requestsPerMinute: 0 } })
  // Alone: in a moment that does not pass, those who set this up would still be about.
  s.clock.advance(2_000)
  const answers = await many(870, () => s.to(s.mallory.key).rpc('SendMessage', sending()))
  const refused = answers.filter(({ body }) => body.error)
  expect(answers.length - refused.length).toBe(300)
  expect(refused[0]!.headers.get('retry-after')).toBe('1')
  expect(refused[0]!.body.error).toEqual({
    code: -32603,
    message: '@mallory has sent 300 messages within a minute. Wait 1 s, or send fewer and longer messages.',
    data: [
      {
        ...errorInfo,
        reason: 'RATE_LIMITED',
        metadata: { code: 'rate-limited', limit: '300', limitName: 'messagesPerMinute', retryAfterSeconds: '1' },
      },
    ],
  })
  const served = await s.to(s.bob.key).rpc('SendMessage', sending())
  expect(served.body.result.task.status.state).toBe('TASK_STATE_SUBMITTED')
  const { body } = await s.gateway.call('GET', '/v1/tasks?role=assignee&pageSize=1', undefined, { key: s.donna.key })
  expect(body.totalSize).toBe(301)
  expect(await events(s.gateway, 'mail.rate_limited')).toMatchObject([{ data: { agent: '@mallory', limit: 300 } }])
})

test('the refusal has the form of each binding', async () => {
  await using s = await start({ ROUSE_MESSAGES_PER_MINUTE: '1' })
  const donna = s.to(s.mallory.key)
  await donna.rpc('SendMessage', sending())
  const rest = await donna.rest('POST', '/message:send', sending())
  expect([rest.status, rest.headers.get('retry-after'), rest.body.error]).toMatchObject([
    429,
    '60',
    { code: 429, status: 'RESOURCE_EXHAUSTED', details: [{ reason: 'RATE_LIMITED', metadata: { limit: '1' } }] },
  ])
  const old = { message: { messageId: 'm', role: 'user', kind: 'message', parts: [{ kind: 'text', text: 'x' }] } }
  const rpc = await donna.rpc('message/send', old, legacy)
  expect(rpc.body.error).toMatchObject({ code: -32603, message: expect.stringContaining('within a minute') })
  const oldRest = await donna.rest(
    'POST',
    '/v1/message:send',
    { message: { messageId: 'm', role: 'ROLE_USER', content: [{ text: 'x' }] } },
    legacy,
  )
  expect([oldRest.status, oldRest.headers.get('retry-after')]).toEqual([429, expect.stringMatching(/^\d+$/)])
})

test('mail and A2A messages are one rate, which outlives the gateway', async () => {
  const clock = new FakeClock()
  await using s = await start({ ROUSE_MESSAGES_PER_MINUTE: '5' }, clock)
  const mail = (gateway: TestGateway) =>
    gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'x' }, { key: s.mallory.key })
  for (let n = 0; n < 3; n++) await s.gateway.send('donna', 'x', { key: s.mallory.key })
  expect((await mail(s.gateway)).status).toBe(201)
  await s.gateway.stop()
  await using again = await startGateway({
    dataDir: s.gateway.dataDir,
    env: { ROUSE_MESSAGES_PER_MINUTE: '5' },
    overrides: { clock },
  })
  expect((await mail(again)).status).toBe(201)
  expect((await mail(again)).body).toMatchObject({ code: 'rate-limited', limitName: 'messagesPerMinute' })
})

// The attack: what was counted apart was twice the rate.
test('mail and A2A messages that are sent at the same time are one rate', async () => {
  await using s = await start({ ROUSE_MESSAGES_PER_MINUTE: '4' })
  const mail = () => s.gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'x' }, { key: s.mallory.key })
  const answers = await Promise.all(
    Array.from({ length: 16 }, (_, n) => (n % 2 === 0 ? mail() : s.to(s.mallory.key).rpc('SendMessage', sending()))),
  )
  expect(answers.filter(({ status, body }) => status < 300 && !body.error)).toHaveLength(4)
})

test('agents that answer each other over A2A and by mail, in turns, are stopped', async () => {
  await using s = await start({ ROUSE_STORM_TURNS: '4' })
  await s.to(s.mallory.key).rpc('SendMessage', sending())
  expect((await s.gateway.call('POST', '/v1/messages', { to: '@mallory', subject: 'x' }, s.donna)).status).toBe(201)
  await s.to(s.mallory.key).rpc('SendMessage', sending())
  await s.to(s.donna.key, s.mallory).rpc('SendMessage', sending())
  const refused = await s.to(s.mallory.key).rpc('SendMessage', sending())
  expect(refused.headers.get('retry-after')).toBe('600')
  expect(refused.body.error.data).toMatchObject([
    { reason: 'RATE_LIMITED', metadata: { code: 'storm-breaker', limit: '4', limitName: 'stormTurns' } },
  ])
  expect((await s.to(s.mallory.key, s.bob).rpc('SendMessage', sending())).body.result).toBeDefined()
})

test('a recipient of too many messages from several agents accepts twice the number, over A2A and mail, and the operator’s', async () => {
  await using s = await start({ ROUSE_STORM_MESSAGES: '3', ROUSE_MESSAGES_PER_MINUTE: '0' })
  for (const { key } of [s.mallory, s.bob, s.mallory, s.bob, s.mallory, s.bob])
    expect((await s.to(key).rpc('SendMessage', sending())).body.result).toBeDefined()
  const { body } = await s.to(s.mallory.key).rpc('SendMessage', sending())
  expect(body.error.data).toMatchObject([
    {
      reason: 'RATE_LIMITED',
      metadata: { code: 'recipient-storm', limit: '3', limitName: 'stormMessages', retryAfterSeconds: '200' },
    },
  ])
  const mail = await s.gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'x' }, { key: s.bob.key })
  expect(mail.body.code).toBe('recipient-storm')
  expect((await s.to(s.gateway.adminKey).rpc('SendMessage', sending())).body.result).toBeDefined()
  expect((await s.to(s.mallory.key, s.bob).rpc('SendMessage', sending())).body.result).toBeDefined()
  expect(await events(s.gateway, 'mail.storm_tripped')).toHaveLength(1)
  s.clock.advance(200_000)
  expect((await s.to(s.mallory.key).rpc('SendMessage', sending())).body.result).toBeDefined()
})

test('an agent that floods another one, over A2A and by mail, is refused by name; an innocent one gets through by both', async () => {
  await using s = await start({ ROUSE_STORM_MESSAGES: '80', ROUSE_MESSAGES_PER_MINUTE: '0' })
  const mailTo = (key: string) => s.gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'x' }, { key })
  const a2a = (key: string) => s.to(key).rpc('SendMessage', sending())
  const floods = await many(120, () => a2a(s.mallory.key))
  const refused = floods.filter(({ body }) => body.error)
  expect(refused).toHaveLength(40)
  expect(refused[0]!.headers.get('retry-after')).toBe('8')
  expect(refused[0]!.body.error).toMatchObject({
    message: expect.stringContaining('@mallory may write to it again in 8 s'),
    data: [{ reason: 'RATE_LIMITED', metadata: { code: 'recipient-storm', limit: '80', limitName: 'stormMessages' } }],
  })
  expect((await a2a(s.bob.key)).body.result).toBeDefined()
  // Bob was the last one: mallory gets through once more, and then bob again.
  expect((await mailTo(s.mallory.key)).status).toBe(201)
  expect((await mailTo(s.mallory.key)).body).toMatchObject({ limitName: 'stormMessages', limit: 80 })
  expect((await mailTo(s.bob.key)).status).toBe(201)
  expect((await a2a(s.mallory.key)).body.result).toBeDefined()
  expect((await a2a(s.mallory.key)).body.error.data[0].metadata.code).toBe('recipient-storm')
  expect((await a2a(s.bob.key)).body.result).toBeDefined()
  s.clock.advance(10 * 60_000)
  expect((await a2a(s.mallory.key)).body.result).toBeDefined()
  expect((await mailTo(s.mallory.key)).status).toBe(201)
})

test('after a restart, and on the next gateway of a store, one agent still silences nobody', async () => {
  const clock = new FakeClock()
  const env = { ROUSE_STORM_MESSAGES: '80', ROUSE_MESSAGES_PER_MINUTE: '0' }
  await using s = await start(env, clock)
  await many(100, () => s.to(s.mallory.key).rpc('SendMessage', sending()))
  await s.gateway.stop()
  await using again = await startGateway({ dataDir: s.gateway.dataDir, env, overrides: { clock } })
  const mailTo = (key: string) => again.call('POST', '/v1/messages', { to: '@donna', subject: 'x' }, { key })
  // It has the total from the store, and does not know yet who wrote the last message.
  let passed = 0
  while ((await mailTo(s.mallory.key)).status === 201) passed++
  expect(passed).toBe(1)
  expect((await mailTo(s.bob.key)).status).toBe(201)
  expect((await mailTo(s.mallory.key)).status).toBe(201)
  expect((await again.send('donna', 'x', { key: s.bob.key })).id).toBeDefined()
})

test('a repeat is answered with its task, whatever its sender has sent since, and the operator has no rate', async () => {
  await using s = await start({ ROUSE_MESSAGES_PER_MINUTE: '2' })
  const first = sending()
  const headers = { 'Idempotency-Key': 'k' }
  const { body } = await s.to(s.mallory.key).rpc('SendMessage', first, headers)
  await s.to(s.mallory.key).rpc('SendMessage', sending())
  expect((await s.to(s.mallory.key).rpc('SendMessage', sending())).body.error).toBeDefined()
  const repeat = await s.to(s.mallory.key).rpc('SendMessage', first, headers)
  expect(repeat.body.result.task.id).toBe(body.result.task.id)
  for (let n = 0; n < 5; n++) await s.gateway.send('donna', 'from a person')
})

test('the operator sets the rate of a project; 0 is no limit, null is the default', async () => {
  await using s = await start({ ROUSE_MESSAGES_PER_MINUTE: '2' })
  const set = (messagesPerMinute: number | null) =>
    s.gateway.call('PATCH', '/v1/projects/default', { limits: { messagesPerMinute } })
  expect((await set(0)).body.limits.messagesPerMinute).toBe(0)
  for (let n = 0; n < 5; n++) await s.gateway.send('donna', 'x', { key: s.mallory.key })
  expect((await set(null)).body.limits.messagesPerMinute).toBe(2)
  for (let n = 0; n < 2; n++) await s.gateway.send('donna', 'x', { key: s.mallory.key })
  await expect(s.gateway.send('donna', 'x', { key: s.mallory.key })).rejects.toThrow('RATE_LIMITED')
})

test('a config above the limit is refused before the message is stored', async () => {
  await using s = await start()
  await s.gateway.call('PATCH', '/v1/projects/default', { limits: { owned: 1 } })
  const config = (id: string) => ({ taskPushNotificationConfig: { id, url: 'http://127.0.0.1:9/push' } })
  const { id } = await s.gateway.send('donna', 'x', { key: s.mallory.key, configuration: config('a') })
  const again = { key: s.mallory.key, message: { taskId: id } }
  await expect(s.gateway.send('donna', 'x', { ...again, configuration: config('b') })).rejects.toThrow('owned')
  await s.gateway.send('donna', 'x', { ...again, configuration: config('a') })
  await expect(s.gateway.send('donna', 'x', { key: s.mallory.key, configuration: config('a') })).rejects.toThrow(
    'LIMIT_EXCEEDED',
  )
  const { body } = await s.gateway.call('GET', '/v1/tasks?role=originator', undefined, { key: s.mallory.key })
  expect(body.totalSize).toBe(1)
  // A finished task pushes nothing more, so its config does not count.
  await s.gateway.move(s.donna, id, 'completed')
  await until(
    () => {
      s.clock.advance(1_000)
      return s.gateway.send('donna', 'x', { key: s.mallory.key, configuration: config('a') }).catch(() => undefined)
    },
    (task) => task !== undefined,
  )
})
