import { expect, test } from 'vitest'
import { dataDirectory } from '../support/data-directory.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'
import { besideStore } from '../support/store.ts'
import { until } from '../support/until.ts'

const day = 24 * 60 * 60 * 1000

interface World extends AsyncDisposable {
  readonly gateway: TestGateway
  readonly clock: FakeClock
  readonly donna: TestAgent
  /** Moves time on, and then some minutes for the sweeper. */
  pass(ms: number): Promise<void>
}

async function start(env: Record<string, string> = {}): Promise<World> {
  const clock = new FakeClock()
  const gateway = await startGateway({ env, overrides: { clock } })
  const donna = await gateway.addAgent('donna')
  return {
    gateway,
    clock,
    donna,
    async pass(ms) {
      clock.advance(ms)
      await gateway.call('GET', '/healthz')
    },
    [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose](),
  }
}

/** Waits, minute by minute, until the log begins after a logId. */
function untilTail({ gateway, clock }: World, tail: number): Promise<unknown> {
  return until(
    async () => {
      clock.advance(60_000)
      return (await gateway.call('GET', `/v1/events?since=${tail - 1}`)).body.earliestLogId
    },
    (earliest) => earliest === tail,
  )
}

const subscription = async ({ gateway, donna }: World, id: string) =>
  (await gateway.call('GET', `/v1/wake-subscriptions/${id}`, undefined, donna)).body
const deliveries = async ({ gateway, donna }: World, id: string) =>
  (await gateway.call('GET', `/v1/wake-subscriptions/${id}/deliveries`, undefined, donna)).body.deliveries
const patch = ({ gateway, donna }: World, id: string, body: object) =>
  gateway.call('PATCH', `/v1/wake-subscriptions/${id}`, body, donna)

test('a pruned watermark is 410 with the earliest logId: for a page, a stream, its resumption, a resync', async () => {
  await using world = await start()
  const { gateway, donna } = world
  const { id } = await gateway.subscribe(donna, 'http://127.0.0.1:9/', { trigger: 'PERMISSION_GRANTED' })
  await gateway.addAgent('mike')
  await world.pass(31 * day)
  const { body: made } = await gateway.call('POST', '/v1/agents', { handle: 'late' })
  expect(made.agent.handle).toBe('@late')
  await untilTail(world, 3)

  const gone = { status: 410, code: 'watermark-expired', earliestLogId: 3 }
  const stream = { accept: 'text/event-stream' }
  const answers = [
    await gateway.call('GET', '/v1/events?since=0'),
    await gateway.call('GET', '/v1/events?since=2', undefined, donna),
    await gateway.call('GET', '/v1/events?since=2', undefined, { headers: stream }),
    await gateway.call('GET', '/v1/events', undefined, { headers: { ...stream, 'last-event-id': '2' } }),
    await gateway.call('POST', `/v1/wake-subscriptions/${id}/resync`, { sinceLogId: 2 }, donna),
  ]
  for (const { body } of answers) {
    expect(body).toMatchObject(gone)
    expect(body.detail).toContain('from 3')
  }
  const page = await gateway.call('GET', '/v1/events?since=3')
  expect(page.body).toMatchObject({ events: [{ logId: 4, type: 'agent.created' }], lastLogId: 4, more: false })
  expect((await gateway.call('GET', '/v1/events')).body.events).toHaveLength(1)
  const resynced = await gateway.call('POST', `/v1/wake-subscriptions/${id}/resync`, { sinceLogId: 3 }, donna)
  expect(resynced.body).toMatchObject({ eventsReplayed: 0, lastLogId: 3 })
})

test('a subscription whose next events were pruned says so when it is read and resumed, and continues after them', async () => {
  await using world = await start()
  await using receiver = await startReceiver()
  const { gateway, donna } = world
  const { id } = await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME' })
  await patch(world, id, { status: 'paused' })
  await gateway.send('donna', 'gone before it is sent')
  expect(await subscription(world, id)).not.toHaveProperty('earliestLogId')
  const { lastLogId } = (await gateway.call('GET', '/v1/events')).body
  await world.pass(31 * day)
  await untilTail(world, lastLogId)

  expect(await subscription(world, id)).toMatchObject({ status: 'paused', cursorLogId: 1, earliestLogId: lastLogId })
  const listed = (await gateway.call('GET', '/v1/wake-subscriptions', undefined, donna)).body.subscriptions
  expect(listed).toMatchObject([{ earliestLogId: lastLogId }])
  const resumed = await patch(world, id, { status: 'active' })
  expect(resumed.body.currentState).toMatchObject({ status: 'active', earliestLogId: lastLogId })
  await gateway.send('donna', 'sent')
  // The task that waits is told with the logId that is gone; then comes what was sent since.
  await until(
    () => receiver.wakes.map(({ body }) => body.logId),
    (logIds) => logIds.some((logId) => logId > lastLogId),
  )
  await until(
    () => subscription(world, id),
    (state) => state.earliestLogId === undefined,
  )
})

test('an idle subscription has missed nothing, wherever the log begins', async () => {
  await using world = await start()
  const { gateway, donna } = world
  const { id } = await gateway.subscribe(donna, 'http://127.0.0.1:9/', { trigger: 'PERMISSION_GRANTED' })
  await gateway.addAgent('mike')
  await world.pass(31 * day)
  await untilTail(world, 3)
  const state = await subscription(world, id)
  expect(state.cursorLogId).toBeLessThan(3)
  expect(state).not.toHaveProperty('earliestLogId')
})

test('deliveries are removed by the age of their events; one that is still tried stays', async () => {
  const later = Date.parse('2100-01-01')
  await using world = await start({ ROUSE_DELIVERY_RETENTION_DAYS: '2', ROUSE_RETENTION_DAYS: '0' })
  await using receiver = await startReceiver()
  const { gateway, donna } = world
  const { id } = await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME' })
  for (let i = 1; i <= 3; i++) {
    await gateway.send('donna', `message ${i}`)
    await until(
      () => deliveries(world, id),
      // All but the first, which is made to wait: no transaction is open when time passes.
      (found) =>
        found.filter(({ outcome }: { outcome: string }) => outcome === 'delivered').length === (i > 1 ? i - 1 : 1),
    )
    // Before it is old enough to go.
    if (i === 1)
      await besideStore(gateway.dataDir, `update delivery set outcome = 'pending', next_attempt_at = ${later}`)
    await world.pass(day)
  }
  const left = await until(
    () => {
      world.clock.advance(60_000)
      return deliveries(world, id)
    },
    (found) => found.length === 2,
  )
  expect(left.map(({ outcome }: { outcome: string }) => outcome)).toEqual(['delivered', 'pending'])
  expect((await gateway.call('GET', '/v1/events?since=0')).status).toBe(200)
})

test('hundreds of deliveries of many subscriptions are removed in one pass', async () => {
  await using world = await start({ ROUSE_DELIVERY_RETENTION_DAYS: '1' })
  const { gateway, donna } = world
  const { id } = await gateway.subscribe(donna, 'http://127.0.0.1:9/', { trigger: 'PERMISSION_GRANTED' })
  const numbers = (count: number) =>
    `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count})`
  await besideStore(
    gateway.dataDir,
    `${numbers(250)} insert into subscription (id, kind, project_id, agent_id, audience, trigger, filters, harness_target, target,
      coalesce_ms, status, cursor_log_id, created_at, updated_at)
      select 'WAKE_SUB:' || (1000 + i), kind, project_id, agent_id, audience, trigger, filters, harness_target, target, coalesce_ms, status,
      cursor_log_id, created_at, updated_at from n, subscription where id = '${id}'`,
  )
  await besideStore(
    gateway.dataDir,
    `${numbers(1300)} insert into delivery (subscription_id, event_id, event_type, from_log_id, to_log_id, event_count, attempts, outcome, next_attempt_at,
      created_at, updated_at) select case when i <= 50 then s.id else '${id}' end, '01H0000000000000000000' || (1000 + i),
      'wake/test', i, i, 1, '[]', 'delivered', null, 1, 1 from n, subscription s where i <= 50 or s.id = '${id}'`,
  )
  const count = async () => (await besideStore(gateway.dataDir, 'select count(*) as kept from delivery'))[0]!.kept
  expect(await count()).toBe(251 * 50 + 1250)
  await until(
    () => {
      world.clock.advance(60_000)
      return count()
    },
    (left) => left === 0,
  )
})

test('0 days keep everything', async () => {
  using place = dataDirectory()
  const options = { dataDir: place.path, env: { ROUSE_RETENTION_DAYS: '0', ROUSE_DELIVERY_RETENTION_DAYS: '0' } }
  const before = await startGateway({ ...options, overrides: { clock: new FakeClock() } })
  await before.addAgent('donna')
  await before.stop()
  // The next start is eleven years later: a clock that goes there would run each minute's timers on its way.
  const clock = new FakeClock(new FakeClock().now() + 4_000 * day)
  await using gateway = await startGateway({ ...options, overrides: { clock } })
  for (let minute = 0; minute < 5; minute++) {
    clock.advance(60_000)
    await gateway.call('GET', '/healthz')
  }
  expect((await gateway.call('GET', '/v1/events?since=0')).body.events).toHaveLength(1)
})
