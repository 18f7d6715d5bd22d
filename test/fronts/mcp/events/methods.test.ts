import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startGateway, type TestAgent, type TestGateway } from '../../../support/gateway.ts'
import { until } from '../../../support/until.ts'
import { connectNew } from '../http/clients.ts'
import { eras, eventsEnv, secret, speak, startCallback } from './rpc.ts'

let gateway: TestGateway
let lola: TestAgent
let count = 0
beforeAll(async () => {
  gateway = await startGateway({ env: eventsEnv })
  lola = await gateway.addAgent('lola')
})
afterAll(() => gateway?.[Symbol.asyncDispose]())

const newAgent = (): Promise<TestAgent> => gateway.addAgent(`events-${++count}`)
const mail = async (to: TestAgent, subject: string, more: object = {}) => {
  const body = { to: to.handle, subject, body: 'text', ...more }
  const { status, body: sent } = await gateway.call('POST', '/v1/messages', body, { key: lola.key })
  if (status !== 201) throw new Error(JSON.stringify(sent))
  return sent
}

test('the official client finds the extension, and an agent’s event types with schemas of objects', async () => {
  const donna = await newAgent()
  await using one = await connectNew(gateway, donna, '2026-07-28')
  expect(one.client.getServerCapabilities()?.extensions).toHaveProperty('io.modelcontextprotocol/events')
  const { body } = await gateway.call('GET', '/v1/event-types', undefined, { key: donna.key })
  for (const { name, delivery, inputSchema, payloadSchema } of body.eventTypes) {
    expect([name, delivery]).toEqual([name, ['webhook', 'poll', 'push']])
    expect(inputSchema).toMatchObject({ type: 'object', additionalProperties: false })
    expect(payloadSchema).toMatchObject({ type: 'object', required: expect.any(Array) })
  }
})

describe.each(eras)('in the era %s', (era) => {
  test('both keys of the capability are declared, and the operator sees other types than an agent', async () => {
    const donna = await newAgent()
    const own = await speak(gateway, donna, era)
    const operators = await speak(gateway, { key: gateway.adminKey }, era)
    const names = async ({ ask }: typeof own) =>
      ((await ask('events/list')) as unknown as { events: { name: string }[] }).events.map(({ name }) => name)
    expect(await names(own)).toContain('mail.received')
    expect(await names(operators)).not.toContain('mail.received')
    expect(await operators.ask('events/poll', { name: 'mail.received' })).toMatchObject({
      code: -32011,
      message: 'NotFound',
      data: { kind: 'event' },
    })
  })

  test('a poll begins now, goes on from its cursor, and waits for the first event', async () => {
    const donna = await newAgent()
    const { ask } = await speak(gateway, donna, era)
    const params = { name: 'mail.received', arguments: {} }
    const first = await ask('events/poll', params)
    expect(first).toMatchObject({ events: [], truncated: false, hasMore: false, nextPollMs: expect.any(Number) })
    const waiting = ask('events/poll', { ...params, cursor: first.cursor, timeoutMs: 20_000 })
    await mail(donna, 'one')
    const second = await waiting
    expect(second.events).toMatchObject([{ name: 'mail.received', data: { subject: 'one', from: '@lola' } }])
    await mail(donna, 'two')
    await mail(donna, 'three')
    const page = await ask('events/poll', { ...params, cursor: second.cursor, maxEvents: 1 })
    expect(page).toMatchObject({ events: [{ data: { subject: 'two' } }], hasMore: true })
    const rest = await ask('events/poll', { ...params, cursor: page.cursor })
    expect(rest).toMatchObject({ events: [{ data: { subject: 'three' } }], hasMore: false })
    const again = await ask('events/poll', { ...params, cursor: first.cursor })
    expect((again.events as unknown as { data: { subject: string } }[]).map(({ data }) => data.subject)).toEqual([
      'one',
      'two',
      'three',
    ])
  })

  test('a stream begins with active, has each event with its own cursor, and goes on from there', async () => {
    const donna = await newAgent()
    const { stream, ask } = await speak(gateway, donna, era)
    const opened = await stream({ name: 'mail.received' })
    await until(
      () => opened.frames.length,
      (n) => n >= 1,
    )
    expect(opened.frames[0]).toMatchObject({
      method: 'notifications/events/active',
      params: { truncated: false, _meta: { 'io.modelcontextprotocol/subscriptionId': 7 } },
    })
    await mail(donna, 'one')
    await mail(donna, 'two')
    await until(
      () => opened.frames.length,
      (n) => n >= 3,
    )
    const [, one, two] = opened.frames
    expect([one, two].map(({ method, params }) => [method, params.data.subject])).toEqual([
      ['notifications/events/event', 'one'],
      ['notifications/events/event', 'two'],
    ])
    opened.close()
    const missed = await ask('events/poll', { name: 'mail.received', cursor: one.params.cursor })
    expect(missed.events).toMatchObject([{ eventId: two.params.eventId }])
  })

  test('a stream of a type that there is not has no frame', async () => {
    const donna = await newAgent()
    const { stream, ask } = await speak(gateway, donna, era)
    const opened = await stream({ name: 'nothing.happens' })
    await opened.ended
    const [only] =
      opened.frames.length > 0 ? opened.frames : [{ error: await ask('events/stream', { name: 'nothing.happens' }) }]
    expect([only.method, only.error]).toMatchObject([undefined, { code: -32011 }])
  })

  test('a revoked key ends a stream', async () => {
    const donna = await newAgent()
    const made = await gateway.call('POST', `/v1/agents/${donna.handle.slice(1)}/keys`, { label: 'stream' })
    const { stream } = await speak(gateway, { key: made.body.apiKey }, era)
    const opened = await stream({ name: 'mail.received' })
    await until(
      () => opened.frames.length,
      (n) => n >= 1,
    )
    await gateway.call('DELETE', `/v1/agents/${donna.handle.slice(1)}/keys/${made.body.keyId}`)
    await opened.ended
    await mail(donna, 'after the end')
    expect(opened.frames.filter(({ method }) => method === 'notifications/events/event')).toEqual([])
  })
})

describe('what a client says loosely', () => {
  test('more than there may be is cut, and a cursor that is not ours is an unknown one', async () => {
    const donna = await newAgent()
    await mail(donna, 'one')
    const { ask } = await speak(gateway, donna, eras[0]!)
    const params = { name: 'mail.received' }
    expect(await ask('events/poll', { ...params, maxEvents: 500, timeoutMs: 0.5 })).toMatchObject({ truncated: false })
    for (const cursor of ['', 'x'.repeat(201), 'x'.repeat(100_000), 'a\nb']) {
      const polled = await ask('events/poll', { ...params, cursor, maxEvents: 1.5, timeoutMs: 30_000 })
      expect(polled).toMatchObject({ truncated: true, events: [{ data: { subject: 'one' } }] })
    }
  })

  test('arguments that are a list are refused, and a limit is named', async () => {
    // Its challenges count for the host of all the other receivers too.
    await using gateway = await startGateway({ env: eventsEnv })
    const donna = await gateway.addAgent('donna')
    const { ask } = await speak(gateway, donna, eras[0]!)
    const delivery = { mode: 'webhook', url: 'https://127.0.0.1:9/', secret }
    const params = { name: 'mail.received', arguments: [], delivery }
    expect(await ask('events/subscribe', params)).toMatchObject({ code: -32602, data: { field: 'arguments' } })
    const tries = Array.from({ length: 80 }, (_, i) => ({
      name: 'mail.received',
      delivery: { mode: 'webhook', url: `http://127.0.0.1:9/${i}`, secret },
    }))
    const answers = await Promise.all(tries.map((one) => ask('events/subscribe', one)))
    const refused = answers.filter(({ message }) => message === 'ResourceExhausted')
    expect(refused.length).toBeGreaterThan(0)
    for (const { data } of refused)
      expect(data).toMatchObject({
        limit: expect.stringMatching(/^(heavyPerMinute|challengesPerHost)$/),
        max: expect.any(Number),
        retryAfterMs: expect.any(Number),
      })
  })
})

describe('subscribe', () => {
  test.each([
    ['name', { name: undefined }, -32602, { field: 'name' }],
    ['an unknown type', { name: 'mail.lost' }, -32011, { kind: 'event' }],
    [
      'another mode',
      { delivery: { mode: 'push', url: 'https://x.example/', secret } },
      -32014,
      { feature: 'deliveryMode', value: 'push' },
    ],
    ['no delivery', { delivery: undefined }, -32602, { field: 'delivery' }],
    [
      'a short secret',
      { delivery: { mode: 'webhook', url: 'https://x.example/', secret: 'whsec_c2hvcnQ=' } },
      -32602,
      { field: 'delivery.secret' },
    ],
    [
      'a secret of another form',
      { delivery: { mode: 'webhook', url: 'https://x.example/', secret: 'a'.repeat(40) } },
      -32602,
      { field: 'delivery.secret' },
    ],
    [
      'http to another machine',
      { delivery: { mode: 'webhook', url: 'http://x.example/', secret } },
      -32602,
      { field: 'delivery.url' },
    ],
    [
      'a private address',
      { delivery: { mode: 'webhook', url: 'https://10.0.0.1/', secret } },
      -32602,
      { field: 'delivery.url' },
    ],
    [
      'a user in the URL',
      { delivery: { mode: 'webhook', url: 'https://a:b@x.example/', secret } },
      -32602,
      { field: 'delivery.url' },
    ],
    [
      'a fragment',
      { delivery: { mode: 'webhook', url: 'https://x.example/#a', secret } },
      -32602,
      { field: 'delivery.url' },
    ],
    ['an unknown argument', { arguments: { sender: 'lola' } }, -32602, { field: 'arguments.sender' }],
    ['an argument of another type', { arguments: { priority: 'urgent' } }, -32602, { field: 'arguments.priority' }],
    ['a text as arguments', { arguments: 'all of them' }, -32602, { field: 'arguments' }],
    ['a cursor that is a number', { cursor: 5 }, -32602, { field: 'cursor' }],
    ['a negative age', { maxAgeMs: -1 }, -32602, { field: 'maxAgeMs' }],
  ])('%s is refused, and the field is named', async (_, change, code, data) => {
    const donna = await newAgent()
    const { ask } = await speak(gateway, donna, 'modern')
    const good = {
      name: 'mail.received',
      arguments: {},
      delivery: { mode: 'webhook', url: 'https://x.example/', secret },
    }
    expect(await ask('events/subscribe', { ...good, ...change })).toMatchObject({ code, data })
  })

  test('the same choice in another order is one subscription; another caller has its own, and is challenged itself', async () => {
    const [donna, mike] = [await newAgent(), await newAgent()]
    await using callback = await startCallback()
    const delivery = { mode: 'webhook', url: callback.url, secret }
    const of = async (agent: TestAgent, given: object) =>
      (await speak(gateway, agent, 'modern')).ask('events/subscribe', {
        name: 'mail.received',
        arguments: given,
        delivery,
      })
    const one = await of(donna, { priority: 'high', from: ['lola'] })
    const same = await of(donna, { from: ['@lola'], priority: 'high' })
    const other = await of(mike, { priority: 'high', from: ['@lola'] })
    expect(one.id).toMatch(/^sub_[0-9a-f]{32}$/)
    expect([same.id, other.id === one.id]).toEqual([one.id, false])
    expect(callback.heard.map(({ body }) => body.type)).toEqual(['verification', 'verification'])
    const { body } = await gateway.call('GET', '/v1/wake-subscriptions', undefined, { key: donna.key })
    expect(body.subscriptions).toHaveLength(1)
    const [shown] = body.subscriptions
    expect(shown).toMatchObject({ harnessTarget: 'mcp-webhook', refreshBefore: same.refreshBefore })
    // The path of a URL may be a secret.
    expect(shown.harnessTargetMetadata.url).toBe(new URL(callback.url).origin)
    expect(JSON.stringify(body)).not.toContain(secret.slice(6))
  })

  test('two spellings of an address are one subscription, which ends by either', async () => {
    const donna = await newAgent()
    await using callback = await startCallback()
    const { ask } = await speak(gateway, donna, eras[0]!)
    const spelt = [`${callback.url}`, callback.url.replace('http://', 'HTTP://')]
    const made = []
    for (const url of spelt)
      made.push(
        await ask('events/subscribe', {
          name: 'mail.received',
          delivery: { mode: 'webhook', url, secret },
          ttlMs: 61_000.5,
        }),
      )
    expect(made[0]!.id).toBe(made[1]!.id)
    const { body } = await gateway.call('GET', '/v1/wake-subscriptions', undefined, { key: donna.key })
    expect(body.subscriptions).toHaveLength(1)
    await ask('events/unsubscribe', { name: 'mail.received', delivery: { url: spelt[1] } })
    const after = await gateway.call('GET', '/v1/wake-subscriptions', undefined, { key: donna.key })
    expect(after.body.subscriptions).toEqual([])
  })

  test('twice at once makes one', async () => {
    const donna = await newAgent()
    await using callback = await startCallback()
    const { ask } = await speak(gateway, donna, 'modern')
    const params = { name: 'mail.received', delivery: { mode: 'webhook', url: callback.url, secret } }
    const answers = await Promise.all(Array.from({ length: 5 }, () => ask('events/subscribe', params)))
    expect(new Set(answers.map(({ id }) => id)).size).toBe(1)
    const { body } = await gateway.call('GET', '/v1/wake-subscriptions', undefined, { key: donna.key })
    expect(body.subscriptions).toHaveLength(1)
  })

  test('whatever time is wanted, the answer says which it is', async () => {
    const donna = await newAgent()
    await using callback = await startCallback()
    const { ask } = await speak(gateway, donna, 'modern')
    const delivery = { mode: 'webhook', url: callback.url, secret }
    const hours = async (ttlMs: unknown) => {
      const { refreshBefore } = await ask('events/subscribe', { name: 'mail.received', delivery, ttlMs })
      return Math.round((Date.parse(refreshBefore as never) - Date.now()) / 3_600_000)
    }
    expect([await hours(undefined), await hours(null), await hours(1), await hours(1e15)]).toEqual([24, 720, 0, 720])
  })

  test('its settings are its client’s; it can be paused, and a refresh does not lift that', async () => {
    const donna = await newAgent()
    await using callback = await startCallback()
    const { ask } = await speak(gateway, donna, 'modern')
    const params = { name: 'mail.received', delivery: { mode: 'webhook', url: callback.url, secret } }
    await ask('events/subscribe', params)
    const { body } = await gateway.call('GET', '/v1/wake-subscriptions', undefined, { key: donna.key })
    const path = `/v1/wake-subscriptions/${body.subscriptions[0].subscriptionId}`
    for (const change of [{ rotateSigningKey: true }, { harnessTarget: 'none' }, { trigger: 'WAKE_RECEIPT' }]) {
      expect((await gateway.call('PATCH', path, change)).body).toMatchObject({ code: 'invalid-request' })
    }
    expect((await gateway.call('PATCH', path, { status: 'paused' })).status).toBe(200)
    expect(await ask('events/subscribe', params)).toMatchObject({ deliveryStatus: { active: false } })
    await mail(donna, 'while it is paused')
    expect((await gateway.call('PATCH', path, { status: 'active' })).status).toBe(200)
    await until(
      () => callback.events.length,
      (n) => n === 1,
    )
  })

  test('401 for long suspends it, its owner is told, and a refresh lifts that without a gap in silence', async () => {
    const donna = await newAgent()
    await using callback = await startCallback()
    const { ask } = await speak(gateway, donna, 'modern')
    const params = { name: 'mail.received', delivery: { mode: 'webhook', url: callback.url, secret } }
    await ask('events/subscribe', params)
    callback.respond(401)
    await mail(donna, 'refused for now')
    await until(
      () => callback.events.length,
      (n) => n >= 2,
    )
    expect(await ask('events/subscribe', params)).toMatchObject({
      deliveryStatus: { active: true, lastDeliveryAt: null, lastError: 'http_4xx' },
    })
    callback.respond(204)
    await until(
      async () =>
        (await ask('events/subscribe', params)).deliveryStatus as unknown as { lastDeliveryAt: string | null },
      ({ lastDeliveryAt }) => lastDeliveryAt !== null,
    )
  })

  test('an unknown subscription has ended already', async () => {
    const donna = await newAgent()
    const { ask } = await speak(gateway, donna, 'modern')
    expect(await ask('events/unsubscribe', { name: 'mail.received', delivery: { url: 'https://x.example/' } })).toEqual(
      {
        resultType: 'complete',
        _meta: expect.anything(),
      },
    )
  })
})

test('every event type: its events, and their data as its payloadSchema says', async () => {
  const donna = await newAgent()
  const { ask } = await speak(gateway, donna, 'modern')
  const { ask: lolas } = await speak(gateway, lola, 'modern')
  const { body } = await gateway.call('GET', '/v1/event-types', undefined, { key: donna.key })
  const schemas = new Map<string, object>(
    body.eventTypes.map((one: { name: string; payloadSchema: object }) => [one.name, one.payloadSchema]),
  )
  const start = new Map<string, unknown>()
  for (const name of schemas.keys()) start.set(name, (await ask('events/poll', { name })).cursor)
  const lolaStart = (await lolas('events/poll', { name: 'message.status_changed' })).cursor
  const { messageId } = await mail(donna, 'Read me')
  const task = await gateway.send(donna.handle, 'Do this', { key: lola.key })
  await gateway.send(donna.handle, 'And this', { key: lola.key, message: { taskId: task.id } })
  await gateway.move(donna, task.id, 'working')
  await gateway.move(donna, task.id, 'input-required')
  await gateway.call('POST', `/v1/messages/${messageId}/status`, { status: 'acked' }, { key: donna.key })
  await gateway.call(
    'POST',
    '/v1/permissions',
    { grantee: donna.handle, scope: 'CAN_READ_INBOX_OF' },
    { key: lola.key },
  )
  const ajv = new Ajv2020({ strict: false })
  const check = (name: string, events: unknown) => {
    for (const { data } of events as { data: unknown }[]) {
      const isValid = ajv.validate(schemas.get(name)!, data)
      expect([name, isValid, ajv.errors]).toEqual([name, true, null])
    }
    return (events as unknown[]).length
  }
  const counts: Record<string, number> = {}
  for (const [name, cursor] of start) counts[name] = check(name, (await ask('events/poll', { name, cursor })).events)
  expect(counts).toMatchObject({
    'mail.received': 1,
    'task.message_received': 2,
    'task.assigned': 1,
    'permission.granted': 1,
  })
  const inputs = await lolas('events/poll', { name: 'task.input_required', cursor: lolaStart })
  expect(check('task.input_required', inputs.events)).toBe(1)
  const acked = await lolas('events/poll', {
    name: 'message.status_changed',
    cursor: lolaStart,
    arguments: { states: ['acked'] },
  })
  expect(check('message.status_changed', acked.events)).toBe(1)
})

test('a gateway with the numbers of the final text, and one without events', async () => {
  await using sep = await startGateway({ env: { ROUSE_MCP_EVENTS_CODES: 'sep' } })
  const donna = await sep.addAgent('donna')
  expect(await (await speak(sep, donna, 'modern')).ask('events/poll', { name: 'no.type' })).toMatchObject({
    code: -32023,
  })
  const http = { name: 'mail.received', delivery: { mode: 'webhook', url: 'http://127.0.0.1:9/', secret } }
  expect(await (await speak(sep, donna, 'modern')).ask('events/subscribe', http)).toMatchObject({
    code: -32602,
    data: { field: 'delivery.url', reason: expect.stringContaining('ROUSE_MCP_EVENTS_ALLOW_HTTP') },
  })
  await using without = await startGateway({ env: { ROUSE_MCP_EVENTS: 'off' } })
  const mike = await without.addAgent('mike')
  for (const era of eras) {
    expect(await (await speak(without, mike, era)).ask('events/list')).toMatchObject({ code: -32601 })
  }
})
