import { expect, test } from 'vitest'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'
import { until as eventually } from '../support/until.ts'
import { advanceUntil, deliveriesOf, eventsOf } from '../wakes/acts.ts'
import { minute, pass } from './acts.ts'

const hour = 60 * minute
const limitMs = 5 * minute

// D50
test('a parked agent is not woken until the reset; its mail waits, and its sender sees why', async () => {
  const clock = new FakeClock()
  await using first = await startGateway({ overrides: { clock } })
  await using receiver = await startReceiver()
  const donna = await first.addAgent('donna')
  const lola = await first.addAgent('lola')
  const { id } = await first.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME' })
  const until = new Date(clock.now() + limitMs).toISOString()
  const limit = { until, reason: 'usage-limit', detail: 'five-hour window' }
  const { body: parked } = await first.call('PUT', '/v1/parked', limit, { key: donna.key })
  expect(parked).toMatchObject({ agent: '@donna', parked: limit })
  const mail = { to: '@donna', subject: 'x' }
  const { body: sent } = await first.call('POST', '/v1/messages', mail, { key: lola.key })
  const read = (gateway: typeof first) =>
    gateway.call('GET', `/v1/messages/${sent.messageId}`, undefined, { key: lola.key })
  expect((await read(first)).body.recipients[0]).toMatchObject({
    status: 'sent',
    held: { reason: 'usage-limit', until },
  })
  const held = await first.call('GET', `/v1/wake-subscriptions/${id}/held`, undefined, { key: donna.key })
  expect(held.body.held).toMatchObject([{ action: 'wait', reason: 'usage_limit' }])
  await first.stop()
  // It holds across a restart of the gateway.
  await using gateway = await startGateway({ dataDir: first.dataDir, overrides: { clock } })
  await pass(gateway, clock, 3 * minute)
  expect(receiver.wakes).toEqual([])
  await gateway.call('POST', '/v1/messages', { ...mail, subject: 'y' }, { key: lola.key })
  await advanceUntil(
    clock,
    2_000,
    async () => receiver.wakes.length,
    (count) => count > 0,
  )
  expect(clock.now()).toBeGreaterThanOrEqual(Date.parse(until))
  expect(receiver.wakes[0]!.body).toMatchObject({ eventType: 'wake/digest', payload: { eventCount: 2 } })
  await advanceUntil(
    clock,
    2_000,
    () => eventsOf(gateway, 'recovery.unparked'),
    (events) => events.length > 0,
  )
  expect((await read(gateway)).body.recipients[0]).not.toHaveProperty('held')
  expect((await gateway.call('GET', '/v1/parked', undefined, { key: donna.key })).body.parked).toBe(null)
})

test('a spend cap holds until a person ends it; then what waits is sent at once', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock } })
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME', harnessTargetMetadata: { coalesceWindow: 0 } })
  await gateway.call('PUT', '/v1/parked', { until: null, reason: 'spend-cap' }, { key: donna.key })
  await gateway.send('donna', 'waits')
  await pass(gateway, clock, 3 * minute)
  expect(receiver.wakes).toEqual([])
  expect((await gateway.call('GET', '/v1/parked?agent=@donna')).body.parked).toMatchObject({ until: null })
  expect((await gateway.call('DELETE', '/v1/parked?agent=@donna')).status).toBe(204)
  clock.advance(0)
  await receiver.waitFor(1)
  const changes = (await eventsOf(gateway)).filter(({ type }) => type.startsWith('recovery.'))
  expect(changes.map(({ data }) => data.change)).toEqual(['parked', 'unparked'])
})

test('a limit that is reported again with a little other time is no further event', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock } })
  const donna = await gateway.addAgent('donna')
  for (let n = 0; n < 20; n++) {
    const until = new Date(clock.now() + hour + n * 2 * minute).toISOString()
    const { body } = await gateway.call('PUT', '/v1/parked', { until, reason: 'usage-limit' }, { key: donna.key })
    expect(body.parked).toMatchObject({ until })
  }
  expect(await eventsOf(gateway, 'recovery.parked')).toHaveLength(1)
})

test('a subscription that is made meanwhile waits too, and an instant that cannot be right is refused', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock } })
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const at = (ms: number) => new Date(clock.now() + ms).toISOString()
  for (const until of [at(-1), at(9 * 24 * hour), 'tomorrow']) {
    const { status, body } = await gateway.call(
      'PUT',
      '/v1/parked',
      { until, reason: 'usage-limit' },
      { key: donna.key },
    )
    expect([status, body.field]).toEqual([400, 'until'])
  }
  await gateway.call('PUT', '/v1/parked', { until: at(limitMs), reason: 'usage-limit' }, { key: donna.key })
  await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME' })
  await gateway.send('donna', 'waits')
  await pass(gateway, clock, 3 * minute)
  expect(receiver.wakes).toEqual([])
  await advanceUntil(
    clock,
    2_000,
    async () => receiver.wakes.length,
    (count) => count > 0,
  )
})

test('a limit that turns out shorter holds no longer than that', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock } })
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME' })
  await gateway.call('PUT', '/v1/parked', { until: null, reason: 'usage-limit' }, { key: donna.key })
  await gateway.send('donna', 'waits')
  const until = new Date(clock.now() + limitMs).toISOString()
  for (let n = 0; n < 3; n++) {
    await gateway.call('PUT', '/v1/parked', { until, reason: 'usage-limit' }, { key: donna.key })
  }
  await advanceUntil(
    clock,
    2_000,
    async () => receiver.wakes.length,
    (count) => count > 0,
  )
  expect(clock.now()).toBeGreaterThanOrEqual(Date.parse(until))
  expect(clock.now()).toBeLessThan(Date.parse(until) + limitMs)
  // Said three times, and told once.
  const told = await eventsOf(gateway, 'recovery.parked')
  expect(told.map(({ data }) => data.until)).toEqual([null, until])
})

test('a park is seen by what is under way: nothing more is sent, and the rest comes at the reset', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock } })
  let answer = () => {}
  await using receiver = await startReceiver((_, res) => {
    answer = () => res.end()
  })
  const donna = await gateway.addAgent('donna')
  const { id } = await gateway.subscribe(donna, receiver.url, {
    trigger: 'SENT_TO_ME',
    harnessTargetMetadata: { coalesceWindow: 0 },
  })
  for (let n = 1; n <= 5; n++) await gateway.send('donna', `mail ${n}`)
  await receiver.waitFor(1)
  const until = new Date(clock.now() + limitMs).toISOString()
  await gateway.call('PUT', '/v1/parked', { until, reason: 'usage-limit' }, { key: donna.key })
  answer()
  receiver.respond(204)
  await pass(gateway, clock, 3 * minute)
  expect(receiver.wakes).toHaveLength(1)
  await advanceUntil(
    clock,
    2_000,
    async () => receiver.wakes.length,
    (count) => count > 1,
  )
  expect(clock.now()).toBeGreaterThanOrEqual(Date.parse(until))
  expect(receiver.wakes[1]!.body).toMatchObject({ eventType: 'wake/digest', payload: { eventCount: 4 } })
  const outcomes = async () => (await deliveriesOf(gateway, donna, id)).map(({ outcome }) => outcome)
  await eventually(outcomes, (all) => all.join(' ') === 'delivered delivered')
})

test('attempts that are left when an agent is parked are made after the reset', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock } })
  await using receiver = await startReceiver(503)
  const donna = await gateway.addAgent('donna')
  await gateway.subscribe(donna, receiver.url, {
    trigger: 'SENT_TO_ME',
    harnessTargetMetadata: { coalesceWindow: 0 },
  })
  await gateway.send('donna', 'waits')
  await receiver.waitFor(1)
  const until = new Date(clock.now() + limitMs).toISOString()
  await gateway.call('PUT', '/v1/parked', { until, reason: 'usage-limit' }, { key: donna.key })
  await pass(gateway, clock, 3 * minute)
  expect(receiver.wakes).toHaveLength(1)
  expect(await eventsOf(gateway, 'wake.failed')).toEqual([])
  receiver.respond(204)
  await advanceUntil(
    clock,
    2_000,
    async () => receiver.wakes.length,
    (count) => count > 1,
  )
  expect(clock.now()).toBeGreaterThanOrEqual(Date.parse(until))
})

// A subscription that falls due while its agent is parked was looked for again and again, each time with a commit.
test('what falls due during a park costs no look after look', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock } })
  await using receiver = await startReceiver((_, res) => {
    res.writeHead(503, { 'retry-after': '12' }).end()
  })
  const donna = await gateway.addAgent('donna')
  const { id } = await gateway.subscribe(donna, receiver.url, {
    trigger: 'SENT_TO_ME',
    harnessTargetMetadata: { coalesceWindow: 0 },
  })
  await gateway.send('donna', 'waits')
  await receiver.waitFor(1)
  await gateway.call('PUT', '/v1/parked', { until: null, reason: 'usage-limit' }, { key: donna.key })
  const sinceLogId = 0
  await gateway.call('POST', `/v1/wake-subscriptions/${id}/resync`, { sinceLogId }, { key: donna.key })
  const commits = async () => {
    const { body } = await gateway.call('GET', '/metrics')
    return Number(/^rouse_commit_seconds_count(?:\{[^}]*\})? (\d+)/m.exec(body)?.[1])
  }
  await pass(gateway, clock, minute)
  const before = await commits()
  await pass(gateway, clock, minute)
  expect((await commits()) - before).toBeLessThan(200)
  expect(receiver.wakes).toHaveLength(1)
})
