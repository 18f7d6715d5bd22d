import { expect, test } from 'vitest'
import { openMetricsPage } from '../../src/gateway/metrics-page.ts'
import { Metrics } from '../../src/metrics/metrics.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import { type Scraped, scraped } from './scraped.ts'

async function scrape(gateway: TestGateway, key: string | null = gateway.adminKey): Promise<Scraped> {
  const { status, headers, body } = await gateway.call('GET', '/metrics', undefined, { key })
  expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8'])
  return scraped(body)
}

/** Resolves when so many deliveries of a subscription are recorded: their attempts are counted before. */
async function recorded(gateway: TestGateway, { id }: { readonly id: string }, count: number): Promise<void> {
  const read = async () => (await gateway.call('GET', `/v1/wake-subscriptions/${id}/deliveries`)).body.deliveries
  await until(read, (deliveries) => deliveries.length === count)
}

test('the metrics are for operators with a key', async () => {
  await using gateway = await startGateway()
  const { key } = await gateway.addAgent('donna')
  const { body } = await gateway.call('POST', '/v1/operator-keys', { role: 'viewer', label: 'prometheus' })
  await scrape(gateway, body.operatorKey)
  expect(await gateway.call('GET', '/metrics', undefined, { key: null })).toMatchObject({ status: 401 })
  expect(await gateway.call('GET', '/metrics', undefined, { key })).toMatchObject({ status: 403 })
  const read = async () => (await gateway.call('GET', '/v1/audit?operation=metrics.read&project=*')).body.records
  const records = await until(read, ({ length }) => length === 2)
  const outcomes = records.map(({ outcome }: { outcome: string }) => outcome)
  expect(outcomes.sort()).toEqual(['forbidden', 'unauthenticated'])
})

test('ROUSE_METRICS=open shows them without a key, and off has no such route', async () => {
  await using open = await startGateway({ env: { ROUSE_METRICS: 'open' } })
  expect((await scrape(open, null)).value('rouse_overloaded')).toBe(0)
  await using off = await startGateway({ env: { ROUSE_METRICS: 'off' } })
  expect(await off.call('GET', '/metrics')).toMatchObject({ status: 404 })
})

test('a wake is counted from its message to its receiver', async () => {
  await using gateway = await startGateway()
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const mike = await gateway.addAgent('mike')
  const sub = await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME' })
  await gateway.send('donna', 'hello', { key: mike.key })
  await gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'and' }, { key: mike.key })
  await recorded(gateway, sub, 2)
  await gateway.call('PUT', '/v1/sessions/s1', {}, { key: donna.key })
  const metrics = await scrape(gateway)
  expect(metrics.value('rouse_accept_seconds_count', { surface: 'a2a' })).toBe(1)
  expect(metrics.value('rouse_accept_seconds_count', { surface: 'mail' })).toBe(1)
  expect(metrics.value('rouse_wake_attempts_total', { target: 'a2a-webhook', outcome: 'delivered' })).toBe(2)
  expect(metrics.value('rouse_wake_seconds_count', { target: 'a2a-webhook', form: 'single' })).toBe(2)
  expect(metrics.value('rouse_wake_events_sum')).toBe(2)
  expect(metrics.value('rouse_events_total', { type: 'message.sent' })).toBe(2)
  expect(metrics.value('rouse_subscriptions', { status: 'active', target: 'a2a-webhook' })).toBe(1)
  expect(metrics.value('rouse_gates', { gate: 'nudges', state: 'enabled' })).toBe(1)
  expect(metrics.value('rouse_needs', { urgency: 'stops' })).toBe(0)
  expect(metrics.value('rouse_needs_oldest_seconds', { urgency: 'mail' })).toBe(0)
  expect(metrics.value('rouse_store_bytes')).toBeGreaterThan(10_000)
  expect(metrics.value('rouse_commit_seconds_count')).toBe(metrics.value('rouse_commit_writers_count'))
  expect(metrics.value('rouse_commit_writers_sum')).toBeGreaterThan(3)
  expect(metrics.value('nodejs_eventloop_lag_seconds')).toBeGreaterThanOrEqual(0)
  expect(metrics.value('process_resident_memory_bytes')).toBeGreaterThan(0)
})

test('a coalesced wake counts its events, and a failed one why it failed', async () => {
  await using gateway = await startGateway()
  await using receiver = await startReceiver(410)
  await using other = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const mike = await gateway.addAgent('mike')
  const gone = await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME' })
  const coalesced = await gateway.subscribe(donna, other.url, {
    trigger: 'SENT_TO_ME',
    harnessTargetMetadata: { coalesceWindow: 0.3, coalesceMode: 'window' },
  })
  for (const text of ['1', '2', '3']) await gateway.send('donna', text, { key: mike.key })
  await recorded(gateway, coalesced, 1)
  await recorded(gateway, gone, 1)
  const metrics = await scrape(gateway)
  expect(metrics.value('rouse_wake_attempts_total', { target: 'a2a-webhook', outcome: '4xx' })).toBe(1)
  expect(metrics.value('rouse_wake_seconds_count', { target: 'a2a-webhook', form: 'digest' })).toBe(1)
  expect(metrics.value('rouse_wake_events_sum')).toBe(3)
  expect(metrics.value('rouse_subscriptions', { status: 'degraded', target: 'a2a-webhook' })).toBe(1)
})

test('a store that does not answer leaves its gauges out, and the rest is there', async () => {
  const clock = new FakeClock()
  const metrics = new Metrics()
  const db = { all: () => new Promise(() => {}), get: () => new Promise(() => {}), size: async () => 1 } as never
  const page = openMetricsPage('key', { db, clock, metrics, engine: { runCount: 2 }, isOverloaded: () => true })!
  const writing = page.write()
  clock.advance(2_000)
  const { value } = scraped((await writing).text)
  expect([value('rouse_store_up'), value('rouse_wake_runs'), value('rouse_overloaded')]).toEqual([0, 2, 1])
  expect(value('rouse_store_bytes')).toBeUndefined()
})

test('refusals are counted by the name of their limit, whichever front refuses', async () => {
  await using gateway = await startGateway({ env: { ROUSE_STORM_TURNS: '0' } })
  await gateway.addAgent('donna')
  const mike = await gateway.addAgent('mike')
  await gateway.call('PATCH', '/v1/projects/default', { limits: { messagesPerMinute: 1 } })
  const mail = () => gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'x' }, { key: mike.key })
  expect(await mail()).toMatchObject({ status: 201 })
  expect(await mail()).toMatchObject({ status: 429 })
  const call = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message: message() } }
  const headers = { 'A2A-Version': '1.0' }
  expect((await gateway.call('POST', '/agents/donna', call, { key: mike.key, headers })).body.error).toBeDefined()
  const metrics = await scrape(gateway)
  expect(metrics.value('rouse_refusals_total', { code: 'rate-limited', limit: 'messagesPerMinute' })).toBe(2)
})

test('no label has a name, an id or a word of a peer', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('zebra-donna')
  await gateway.call('POST', '/v1/messages', { to: '@zebra-donna', subject: 'zebra' }, { key: donna.key })
  await gateway.call('GET', '/v1/zebra')
  const { text } = await scrape(gateway)
  expect(text).not.toContain('zebra')
})

function message(): object {
  return { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'hello' }] }
}

test('what waits for a person is in the figures by its urgency, with the longest wait, without what was put off', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock } })
  const donna = await gateway.addAgent('donna')
  const { id } = await gateway.send('donna', 'deploy')
  await gateway.move(donna, id, 'input-required', { message: 'Where?' })
  await gateway.call('POST', '/v1/projects', { project: 'web' })
  await clock.advance(1_800_000)
  const second = await gateway.send('donna', 'publish')
  await gateway.move(donna, second.id, 'auth-required', { message: 'Sign me in.' })
  await gateway.call('POST', '/v1/messages', { to: '@operator', subject: 'x' }, donna)
  const first = await scrape(gateway)
  expect(first.value('rouse_needs', { urgency: 'stops' })).toBe(2)
  expect(first.value('rouse_needs_oldest_seconds', { urgency: 'stops' })).toBe(1_800)
  expect(first.value('rouse_needs', { urgency: 'mail' })).toBe(1)
  expect(first.value('rouse_needs', { urgency: 'late' })).toBe(0)
  const until = new Date(clock.now() + 3_600_000).toISOString()
  await gateway.call('POST', '/v1/needs/snooze', { need: `${id}@2`, until })
  // It is counted once in a while, however often it is asked.
  await clock.advance(2_000)
  expect((await scrape(gateway)).value('rouse_needs', { urgency: 'stops' })).toBe(2)
  await clock.advance(20_000)
  const later = await scrape(gateway)
  expect(later.value('rouse_needs', { urgency: 'stops' })).toBe(1)
  expect(later.value('rouse_needs_oldest_seconds', { urgency: 'stops' })).toBe(22)
})
