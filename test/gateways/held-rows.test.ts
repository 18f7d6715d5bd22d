import pg from 'pg'
import { expect, test } from 'vitest'
import { dataDirectory } from '../support/data-directory.ts'
import { startGateway } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'
import { servedMs } from '../support/served-time.ts'
import { databaseUrlFor } from '../support/store.ts'
import { until } from '../support/until.ts'

/** A gateway with a short limit for row locks, and a client that locks rows. */
async function startBesideHolder(lockTimeoutMs = 100) {
  const store = dataDirectory()
  const url = new URL((await databaseUrlFor(store.path)) as string)
  const holder = new pg.Client({ connectionString: url.href })
  await holder.connect()
  url.searchParams.set('lock_timeout', String(lockTimeoutMs))
  const gateway = await startGateway({ env: { ROUSE_DATABASE_URL: url.href } })
  return {
    gateway,
    async hold(text: string, values: unknown[] = []): Promise<void> {
      await holder.query('begin')
      await holder.query(text, values)
    },
    letGo: () => holder.query('commit'),
    async [Symbol.asyncDispose]() {
      await holder.end()
      await gateway[Symbol.asyncDispose]()
      store[Symbol.dispose]()
    },
  }
}

test('a log that another transaction locks makes its writers fail with 503, and nothing else', async () => {
  await using beside = await startBesideHolder()
  const { gateway, hold, letGo } = beside
  const donna = await gateway.addAgent('donna')
  await using receiver = await startReceiver()
  await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME' })
  await hold('update project set log_head = log_head')
  const mail = { to: '@donna', subject: 'hello' }
  const refused = await Promise.all(Array.from({ length: 3 }, () => gateway.call('POST', '/v1/messages', mail)))
  expect(refused.map(({ body }) => body.code)).toEqual(Array(3).fill('storage-unavailable'))
  await letGo()
  expect((await gateway.call('POST', '/v1/messages', mail)).status).toBe(201)
  expect(await receiver.waitFor(1)).toHaveLength(1)
})

test('a wake whose record is blocked is recorded after the lock is released', async () => {
  await using beside = await startBesideHolder()
  const { gateway, hold, letGo } = beside
  const donna = await gateway.addAgent('donna')
  let isHeld = (_: Promise<void>) => {}
  const held = new Promise<void>((resolve) => {
    isHeld = resolve
  })
  let attempts = 0
  await using receiver = await startReceiver(async (_wake, res) => {
    if (attempts++ === 0) isHeld(hold('update subscription set id = id'))
    await held
    res.end()
  })
  const { id } = await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME' })
  await gateway.send('donna', 'please')
  await held
  const refused = async () =>
    (await gateway.call('PATCH', `/v1/wake-subscriptions/${id}`, { status: 'paused' }, { key: donna.key })).status
  expect(await refused()).toBe(503)
  await letGo()
  const outcomes = async () => {
    const { body } = await gateway.call('GET', `/v1/wake-subscriptions/${id}/deliveries`)
    return body.deliveries.map(({ outcome }: { outcome: string }) => outcome)
  }
  expect(await until(outcomes, ([outcome]) => outcome === 'delivered')).toEqual(['delivered'])
})

test('a store that does not answer makes /readyz fail within a few seconds', async () => {
  await using beside = await startBesideHolder(5_000)
  const { gateway, hold, letGo } = beside
  await hold('lock table project in access exclusive mode')
  const startedAt = servedMs()
  const { status, body } = await gateway.call('GET', '/readyz')
  // A write of the gateway itself may wait for the same lock, and other writes after it.
  const writes = expect.any(Boolean)
  expect([status, body]).toMatchObject([
    503,
    { status: 'not-ready', store: false, writes, dispatcher: true, clock: true },
  ])
  expect(servedMs() - startedAt).toBeLessThan(4_000)
  expect((await gateway.call('GET', '/healthz')).status).toBe(200)
  await letGo()
  await until(
    () => gateway.call('GET', '/readyz'),
    ({ status }) => status === 200,
  )
})
