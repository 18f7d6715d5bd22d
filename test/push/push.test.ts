import { createPublicKey } from 'node:crypto'
import { jwtVerify } from 'jose'
import { expect, test } from 'vitest'
import { dataDirectory } from '../support/data-directory.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { type PushService, startPushService } from '../support/push-service.ts'
import { besideStore } from '../support/store.ts'
import { until } from '../support/until.ts'

const stepMs = 1_000

const subscribe = (gateway: TestGateway, device: object, key = gateway.adminKey) =>
  gateway.call('POST', '/v1/push/subscriptions', device, { key })

const read = async (gateway: TestGateway, key = gateway.adminKey) =>
  (await gateway.call('GET', '/v1/push', undefined, { key })).body

/** Makes an agent ask something, in a task whose subject is given. */
async function ask(gateway: TestGateway, agent: TestAgent, subject: string): Promise<string> {
  const { id } = await gateway.send(agent.handle, `${subject}\nand more of it`)
  await gateway.move(agent, id, 'input-required', { message: 'A secret question?' })
  return id
}

/** Waits for as many notifications, while the time of the gateway goes on. */
const untilReceived = (service: PushService, count: number, clock: FakeClock) =>
  until(
    async () => {
      await clock.advance(stepMs)
      return service.received
    },
    (found) => found.length >= count,
    60_000,
    5,
  )

/** Lets the gateway look at what waits some more times. */
async function pass(clock: FakeClock, seconds: number): Promise<void> {
  for (let at = 0; at < seconds; at++) {
    await clock.advance(stepMs)
    await new Promise((done) => setTimeout(done, 5))
  }
}

test('what stops work is sent to the browser of an operator, encrypted and signed, without words of an agent but the subject', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock } })
  await using service = await startPushService()
  const donna = await gateway.addAgent('donna')
  const { publicKey, enabled, subscriptions } = await read(gateway)
  expect([enabled, subscriptions]).toEqual([true, []])
  const made = await subscribe(gateway, { ...service.device('phone'), label: 'phone' })
  expect(made).toMatchObject({ status: 201, body: { endpoint: `${service.origin}/phone`, label: 'phone' } })
  expect(await read(gateway)).toEqual({ enabled: true, publicKey, subscriptions: [made.body] })
  const task = await ask(gateway, donna, `Drop the table\u202e ${'x'.repeat(200)}`)
  await gateway.call('POST', '/v1/messages', { to: '@operator', subject: 'Only mail' }, donna)
  const [first] = await untilReceived(service, 1, clock)
  const need = `${task}@2`
  expect(first!.path).toBe('/phone')
  expect(first!.notification).toEqual({
    title: '@donna asks',
    subject: expect.stringMatching(/^Drop the table x{60,}$/),
    agent: '@donna',
    kind: 'input',
    need,
    place: `#/needs/${encodeURIComponent(need)}`,
  })
  expect(String(first!.notification.subject).length).toBeLessThanOrEqual(120)
  expect(first!.headers).toMatchObject({ urgency: 'high', 'content-encoding': 'aes128gcm', topic: expect.any(String) })
  const [, token = '', key = ''] = /^vapid t=(\S+), k=(\S+)$/.exec(String(first!.headers.authorization)) ?? []
  expect(key).toBe(publicKey)
  const point = Buffer.from(key, 'base64url')
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((part) => part.toString('base64url'))
  const jwk = createPublicKey({ key: { kty: 'EC', crv: 'P-256', x: x!, y: y! }, format: 'jwk' })
  const { payload } = await jwtVerify(token, jwk, { audience: service.origin })
  expect(payload.sub).toMatch(/^mailto:/)
  // It is sent once, and mail is not.
  await pass(clock, 60)
  expect(service.received).toHaveLength(1)
})

test('what comes at once is one notification, and the next is a while later', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock } })
  await using service = await startPushService()
  const donna = await gateway.addAgent('donna')
  for (let n = 0; n < 30; n++) await ask(gateway, donna, `Question ${n}`)
  await subscribe(gateway, service.device('phone'))
  const [first] = await untilReceived(service, 1, clock)
  expect(first!.notification).toMatchObject({ title: '@donna asks, and 29 more wait for you', subject: 'Question 0' })
  const begun = clock.now()
  await ask(gateway, donna, 'One more')
  const [, second] = await untilReceived(service, 2, clock)
  expect(second!.notification).toMatchObject({ title: '@donna asks', subject: 'One more' })
  expect(clock.now() - begun).toBeGreaterThanOrEqual(10_000)
})

test('what was put off or answered is not sent', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock } })
  await using service = await startPushService()
  const donna = await gateway.addAgent('donna')
  const off = await ask(gateway, donna, 'Later')
  const over = await ask(gateway, donna, 'Answered')
  const put = { need: `${off}@2`, until: new Date(clock.now() + 3_600_000).toISOString() }
  expect(await gateway.call('POST', '/v1/needs/snooze', put)).toMatchObject({ status: 200 })
  await gateway.call('POST', `/v1/tasks/${over}/transitions`, { to: 'canceled', expectedVersion: 2 })
  await subscribe(gateway, service.device('phone'))
  await pass(clock, 20)
  expect(service.received).toEqual([])
})

test('a browser that has ended its subscription is removed, one whose service is away is tried again and then dropped', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock } })
  await using service = await startPushService()
  const donna = await gateway.addAgent('donna')
  await subscribe(gateway, service.device('phone'))
  service.respond(503)
  await ask(gateway, donna, 'First')
  await untilReceived(service, 1, clock)
  await pass(clock, 10)
  expect(service.received).toHaveLength(1)
  await untilReceived(service, 3, clock)
  await clock.advance(3_600_000)
  await untilReceived(service, 4, clock)
  await clock.advance(3_600_000)
  await untilReceived(service, 5, clock)
  await clock.advance(3_600_000)
  await pass(clock, 60)
  expect(service.received).toHaveLength(5)
  service.respond(410)
  await ask(gateway, donna, 'Second')
  await untilReceived(service, 6, clock)
  await until(
    () => read(gateway),
    ({ subscriptions }) => subscriptions.length === 0,
  )
})

test('a restart repeats nothing, and loses nothing that still waits', async () => {
  const clock = new FakeClock()
  using place = dataDirectory()
  await using service = await startPushService()
  const options = { dataDir: place.path, overrides: { clock } }
  const before = await startGateway(options)
  const donna = await before.addAgent('donna')
  await subscribe(before, service.device('phone'))
  await ask(before, donna, 'First')
  await untilReceived(service, 1, clock)
  await pass(clock, 3)
  await ask(before, donna, 'Second')
  await before.stop()
  await using gateway = await startGateway(options)
  await untilReceived(service, 2, clock)
  await pass(clock, 60)
  expect(service.received.map(({ notification }) => notification.subject)).toEqual(['First', 'Second'])
  expect((await read(gateway)).subscriptions).toHaveLength(1)
})

test('two gateways of a store send it once', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock } })
  await using service = await startPushService()
  const donna = await gateway.addAgent('donna')
  await subscribe(gateway, service.device('phone'))
  // As if another gateway had taken the device, and was in the middle of its send.
  await besideStore(gateway.dataDir, `update push_subscription set due_at = ${clock.now() + 60_000}`)
  await ask(gateway, donna, 'First')
  await pass(clock, 30)
  expect(service.received).toEqual([])
  await untilReceived(service, 1, clock)
})

test('a browser ends with the key that added it, and only that key removes it', async () => {
  await using gateway = await startGateway()
  await using service = await startPushService()
  const make = async (role: string) => (await gateway.call('POST', '/v1/operator-keys', { role })).body
  const [anna, bert] = [await make('manager'), await make('manager')]
  const { body } = await subscribe(gateway, service.device('phone'), anna.operatorKey)
  const path = `/v1/push/subscriptions/${body.subscriptionId}`
  expect(await gateway.call('DELETE', path, undefined, { key: bert.operatorKey })).toMatchObject({ status: 404 })
  expect((await read(gateway, bert.operatorKey)).subscriptions).toEqual([])
  // The same browser with another key is one browser.
  await subscribe(gateway, service.device('phone'), bert.operatorKey)
  expect((await read(gateway, anna.operatorKey)).subscriptions).toEqual([])
  expect((await read(gateway, bert.operatorKey)).subscriptions).toMatchObject([{ subscriptionId: body.subscriptionId }])
  expect(await gateway.call('DELETE', path, undefined, { key: bert.operatorKey })).toMatchObject({ status: 204 })
  await subscribe(gateway, service.device('phone'), anna.operatorKey)
  await gateway.call('DELETE', `/v1/operator-keys/${anna.keyId}`)
  expect(await besideStore(gateway.dataDir, 'select id from push_subscription')).toEqual([])
  const donna = await gateway.addAgent('donna')
  expect(await subscribe(gateway, service.device('phone'), donna.key)).toMatchObject({ status: 403 })
  const viewer = (await make('viewer')).operatorKey
  expect(await subscribe(gateway, service.device('phone'), viewer)).toMatchObject({ status: 403 })
})

test('addresses inside a network, wrong keys and too many browsers are refused, each with its field', async () => {
  await using gateway = await startGateway({ env: { ROUSE_WEBHOOK_ALLOW: 'none' } })
  await using service = await startPushService()
  const device = service.device('phone')
  const https = { ...device, endpoint: 'https://push.example/phone' }
  for (const endpoint of [device.endpoint, 'https://10.0.0.1/x', 'https://169.254.169.254/x', 'https://localhost/x'])
    expect(await subscribe(gateway, { ...device, endpoint })).toMatchObject({
      status: 422,
      body: { code: 'url-not-allowed', detail: expect.stringContaining('endpoint') },
    })
  for (const [field, wrong] of [
    ['endpoint', { ...https, endpoint: 'http://push.example/x' }],
    ['keys.p256dh', { ...https, keys: { ...device.keys, p256dh: 'AAAA' } }],
    ['keys.p256dh', { ...https, keys: { ...device.keys, p256dh: Buffer.alloc(65, 4).toString('base64url') } }],
    ['keys.auth', { ...https, keys: { ...device.keys, auth: 'AAAA' } }],
  ] as const)
    expect(await subscribe(gateway, wrong)).toMatchObject({
      status: 400,
      body: { code: 'invalid-request', detail: expect.stringContaining(field) },
    })
  for (let n = 0; n < 10; n++)
    expect((await subscribe(gateway, { ...https, endpoint: `https://push.example/${n}` })).status).toBe(201)
  const refused = await subscribe(gateway, { ...https, endpoint: 'https://push.example/10' })
  expect(refused).toMatchObject({ status: 429, body: { code: 'limit-exceeded', max: 10 } })
  expect((await subscribe(gateway, { ...https, endpoint: 'https://push.example/9' })).status).toBe(201)
})

test('with ROUSE_PUSH=off nothing is taken and nothing is made', async () => {
  await using gateway = await startGateway({ env: { ROUSE_PUSH: 'off' } })
  await using service = await startPushService()
  expect(await read(gateway)).toEqual({ enabled: false, publicKey: null, subscriptions: [] })
  const refused = await subscribe(gateway, service.device('phone'))
  expect(refused).toMatchObject({ status: 403, body: { detail: expect.stringContaining('ROUSE_PUSH') } })
  const kept = await besideStore(gateway.dataDir, `select name from shared_secret where name = 'vapid-keys'`)
  expect(kept).toEqual([])
})
