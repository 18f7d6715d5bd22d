import { expect, test } from 'vitest'
import { ulidFloor } from '../../src/lib/ids.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'
import { besideStore } from '../support/store.ts'
import { until } from '../support/until.ts'

const minute = 60_000
const figuresOf = async (gateway: TestGateway, query = '', options = {}) =>
  (await gateway.call('GET', `/v1/figures${query}`, undefined, options)).body

/** Adds records of wakes, as the engine writes them. `tookMs`: from the event to the acknowledgement. */
async function addWakes(
  { dataDir }: TestGateway,
  subscriptionId: string,
  wakes: readonly { readonly at: number; readonly tookMs: number; readonly outcome?: string }[],
): Promise<void> {
  const rows = wakes.map(({ at, tookMs, outcome = 'delivered' }, nth) => {
    const eventId = ulidFloor(at).slice(0, 10) + String(nth).padStart(16, '0')
    return `('${subscriptionId}', '${eventId}', 'wake/sent_to_me', 1, 1, 1, '[]', '${outcome}', ${at}, ${at + tookMs})`
  })
  const columns = 'subscription_id, event_id, event_type, from_log_id, to_log_id, event_count, attempts, outcome'
  for (let at = 0; at < rows.length; at += 1_000) {
    const values = rows.slice(at, at + 1_000).join(', ')
    await besideStore(dataDir, `insert into delivery (${columns}, created_at, updated_at) values ${values}`)
  }
}

test('the figures have the wakes of each minute by their outcome, and the time from the event to the acknowledgement', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock } })
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const lola = await gateway.addAgent('lola')
  const ofDonna = await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME' })
  const ofLola = await gateway.subscribe(lola, receiver.url, { trigger: 'SENT_TO_ME' })
  const start = clock.now() - (clock.now() % minute)
  const times = Array.from({ length: 100 }, (_, nth) => ({ at: start - 5 * minute + nth, tookMs: nth + 1 }))
  await addWakes(gateway, ofDonna.id, times)
  await addWakes(gateway, ofLola.id, [
    { at: start - 2 * minute, tookMs: 40, outcome: 'written' },
    { at: start - 2 * minute + 1, tookMs: 10, outcome: 'failed' },
    { at: start - 2 * minute + 2, tookMs: 10, outcome: 'rejected' },
    { at: start - 1, tookMs: 10, outcome: 'pending' },
    { at: start - 61 * minute, tookMs: 10 },
  ])
  const all = await figuresOf(gateway)
  expect(all.buckets).toHaveLength(60)
  expect(all).toMatchObject({ bucketSeconds: 60, from: new Date(start - 59 * minute).toISOString() })
  expect(all.totals).toEqual({ delivered: 101, failed: 2, open: 1, p50Ms: 50, p95Ms: 95 })
  expect(
    all.buckets.filter(({ delivered, failed, open }: Record<string, number>) => delivered! + failed! + open! > 0),
  ).toEqual([
    { at: new Date(start - 5 * minute).toISOString(), delivered: 100, failed: 0, open: 0, p50Ms: 50, p95Ms: 95 },
    { at: new Date(start - 2 * minute).toISOString(), delivered: 1, failed: 2, open: 0, p50Ms: 40, p95Ms: 40 },
    { at: new Date(start - minute).toISOString(), delivered: 0, failed: 0, open: 1, p50Ms: null, p95Ms: null },
  ])
  expect(JSON.stringify(all).length).toBeLessThan(10_000)
  // An agent has its own, and the operator of another project none of these.
  expect((await figuresOf(gateway, '?minutes=3', { key: lola.key })).totals).toMatchObject({
    delivered: 1,
    failed: 2,
    open: 1,
  })
  await gateway.call('POST', '/v1/projects', { project: 'web' })
  const elsewhere = await figuresOf(gateway, '', { headers: { 'Rouse-Project': 'web' } })
  expect(elsewhere.totals).toEqual({ delivered: 0, failed: 0, open: 0, p50Ms: null, p95Ms: null })
  const refused = await gateway.call('GET', '/v1/figures?minutes=61')
  expect(refused).toMatchObject({ status: 400, body: { code: 'invalid-request' } })
})

test('a wake that was sent is in the figures', async () => {
  await using gateway = await startGateway()
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME' })
  await gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'x' })
  await until(
    async () => (await gateway.call('GET', '/v1/deliveries')).body.deliveries,
    ([one]) => one?.outcome === 'delivered',
  )
  const { totals } = await figuresOf(gateway)
  expect(totals).toMatchObject({ delivered: 1, failed: 0, open: 0 })
  expect(totals.p50Ms).toBeLessThan(minute)
})

test('of more wakes than are counted the newest are, and the figures begin where they are whole', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock } })
  await using receiver = await startReceiver()
  const { id } = await gateway.subscribe(await gateway.addAgent('donna'), receiver.url)
  const start = clock.now() - (clock.now() % minute)
  for (let ago = 0; ago <= 50; ago++) await addMany(gateway, id, start - ago * minute, 2_000)
  const found = await figuresOf(gateway)
  expect(found.from).toBe(new Date(start - 48 * minute).toISOString())
  expect(found.buckets[0]).toMatchObject({ at: found.from, delivered: 2_000 })
  expect(found.totals).toMatchObject({ p50Ms: 7, p95Ms: 7 })
})

/** Adds as many wakes of one instant, each of which took 7 ms. */
async function addMany({ dataDir }: TestGateway, id: string, at: number, count: number): Promise<void> {
  const time = ulidFloor(at).slice(0, 10)
  await besideStore(
    dataDir,
    `insert into delivery (subscription_id, event_id, event_type, from_log_id, to_log_id, event_count, attempts, outcome, created_at, updated_at)
      with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count})
      select '${id}', '${time}' || cast(1000000000000000 + i as text), 'wake/sent_to_me', 1, 1, 1, '[]', 'delivered', ${at}, ${at + 7} from n`,
  )
}
