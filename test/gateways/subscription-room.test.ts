import pg from 'pg'
import { expect, test } from 'vitest'
import { databaseUrlFor } from '../support/store.ts'
import { until } from '../support/until.ts'
import { startTwo } from './two-gateways.ts'

const url = 'http://127.0.0.1:9/'
const long = { url: `${url}${'x'.repeat(2_000)}`, coalesceWindow: 0 }

/** Counts who waits for a lock. */
const waiting = `select count(*)::int as count from pg_stat_activity where wait_event_type = 'Lock'`

test('subscriptions that grow at the same moment on two gateways share the room of their agent', async () => {
  await using two = await startTwo()
  const { a, b } = two
  const mallory = await a.addAgent('mallory')
  await a.call('PATCH', '/v1/projects/default', { limits: { subscriptionBytes: 3_000 } })
  const first = await a.subscribe(mallory, url)
  const second = await b.subscribe(mallory, url)
  const { body } = await a.call('POST', '/v1/agents/mallory/keys', {})
  const grow = (gateway: typeof a, id: string, key: string) =>
    gateway.call('PATCH', `/v1/wake-subscriptions/${id}`, { harnessTargetMetadata: long }, { key })
  const holder = new pg.Client({ connectionString: await databaseUrlFor(two.dataDir) })
  await holder.connect()
  try {
    // Nobody can write a subscription until both gateways have begun.
    await holder.query('begin')
    await holder.query('lock table subscription in share mode')
    const answers = Promise.all([grow(a, first.id, mallory.key), grow(b, second.id, body.apiKey)])
    await until(
      async () => (await holder.query(waiting)).rows[0].count,
      (count) => count >= 2,
    )
    await holder.query('commit')
    expect((await answers).map(({ status }) => status).sort()).toEqual([200, 429])
  } finally {
    await holder.end()
  }
})
