import { expect, test } from 'vitest'
import type { JsonObject } from '../../src/lib/json.ts'
import { type Logger, silentLogger } from '../../src/logger/logger.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'
import { besideStore } from '../support/store.ts'
import { until } from '../support/until.ts'
import { advanceUntil, eventsOf } from '../wakes/acts.ts'
import { wireTo } from './wire.ts'

interface Row {
  readonly status: string
  readonly reason: string | null
  readonly dueAt: number | null
  readonly leaseOwner: string | null
}

const closed: Row = { status: 'paused', reason: 'task finished', dueAt: null, leaseOwner: null }
const open: Row = { status: 'active', reason: null, dueAt: null, leaseOwner: null }

/** The push subscriptions of a task as the store has them: A2A shows nothing of their state. */
async function rowsOf({ dataDir }: TestGateway, taskId: string): Promise<Row[]> {
  const columns = 'status, reason, due_at as "dueAt", lease_owner as "leaseOwner"'
  const rows = await besideStore(dataDir, `select ${columns} from subscription where audience = ?`, taskId)
  return rows as unknown as Row[]
}

function untilRow(gateway: TestGateway, taskId: string, wanted: Partial<Row>, clock?: FakeClock): Promise<unknown> {
  const isWanted = (row?: Row) =>
    row !== undefined && Object.entries(wanted).every(([k, v]) => row[k as keyof Row] === v)
  const read = () => rowsOf(gateway, taskId)
  if (clock) return advanceUntil(clock, 1000, read, ([row]) => isWanted(row))
  return until(read, ([row]) => isWanted(row))
}

function configs(gateway: TestGateway, agent: TestAgent) {
  const call = async (method: string, params: JsonObject) => {
    const { body } = await wireTo(gateway, agent, gateway.adminKey).rpc(method, params)
    if (body.error) throw new Error(JSON.stringify(body.error))
    return body.result
  }
  return {
    create: (taskId: string, url: string, id = 'mine') =>
      call('CreateTaskPushNotificationConfig', { taskId, url, id, token: 't0ken' }),
    get: (taskId: string) => call('GetTaskPushNotificationConfig', { taskId, id: 'mine' }),
    list: async (taskId: string) => (await call('ListTaskPushNotificationConfigs', { taskId })).configs ?? [],
    delete: (taskId: string) => call('DeleteTaskPushNotificationConfig', { taskId, id: 'mine' }),
  }
}

/** Keeps what is logged at warn. */
function recordingLogger(): { log: Logger; warnings: [string, object][] } {
  const warnings: [string, object][] = []
  return { log: { ...silentLogger, warn: (fields, event) => warnings.push([event, fields]) }, warnings }
}

test.each(['completed', 'failed', 'rejected', 'canceled'])(
  'a config ends after the push that its task is %s, and stays readable until it is deleted',
  async (state) => {
    await using gateway = await startGateway()
    await using receiver = await startReceiver()
    const donna = await gateway.addAgent('donna')
    const push = configs(gateway, donna)
    const { id } = await gateway.send('donna', 'work')
    await push.create(id, receiver.url)
    await gateway.move(donna, id, 'working')
    await receiver.waitFor(1)
    await untilRow(gateway, id, open)
    if (state === 'canceled') await wireTo(gateway, donna, gateway.adminKey).rpc('CancelTask', { id })
    else await gateway.move(donna, id, state)
    await receiver.waitFor(2)
    await untilRow(gateway, id, closed)
    expect(await push.get(id)).toMatchObject({ taskId: id, id: 'mine', url: receiver.url, token: 't0ken' })
    expect(await push.list(id)).toHaveLength(1)
    await push.delete(id)
    expect(await push.list(id)).toEqual([])
  },
)

test('a config whose last push failed ends too', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock, random: () => 0 } })
  await using receiver = await startReceiver(500)
  const donna = await gateway.addAgent('donna')
  const { id } = await gateway.send('donna', 'work')
  await configs(gateway, donna).create(id, receiver.url)
  await gateway.move(donna, id, 'completed')
  await untilRow(gateway, id, closed, clock)
  expect(receiver.wakes).toHaveLength(4)
})

test('a config for a finished task is closed from the start', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const { id } = await gateway.send('donna', 'work')
  await gateway.move(donna, id, 'completed')
  await configs(gateway, donna).create(id, 'http://127.0.0.1:9/')
  expect(await rowsOf(gateway, id)).toEqual([closed])
  expect(await configs(gateway, donna).list(id)).toHaveLength(1)
})

test('a gateway that dies before it ends a config ends it at its next start, and pushes nothing twice', async () => {
  await using receiver = await startReceiver()
  await using first = await startGateway()
  const donna = await first.addAgent('donna')
  const { id } = await first.send('donna', 'work')
  await configs(first, donna).create(id, receiver.url)
  await first.move(donna, id, 'completed')
  await untilRow(first, id, closed)
  await first.stop()
  const left = `update subscription set status = 'active', reason = null, due_at = 1, lease_owner = 'dead'`
  await besideStore(first.dataDir, left)
  await using second = await startGateway({ dataDir: first.dataDir })
  await untilRow(second, id, closed)
  expect(receiver.wakes).toHaveLength(1)
})

test('a receiver that refuses degrades only its config: the task continues, and a new config starts active', async () => {
  const { log, warnings } = recordingLogger()
  await using gateway = await startGateway({ overrides: { log } })
  await using receiver = await startReceiver(403)
  const donna = await gateway.addAgent('donna')
  const push = configs(gateway, donna)
  const { id } = await gateway.send('donna', 'work')
  await push.create(id, receiver.url)
  await gateway.move(donna, id, 'working')
  await untilRow(gateway, id, { status: 'degraded', reason: 'http-403', dueAt: null, leaseOwner: null })
  const warned = { taskId: id, configId: 'mine', reason: 'http-403' }
  await until(
    () => warnings.length,
    (count) => count === 3,
  )
  expect(warnings).toEqual([
    ['wake.attempted', expect.objectContaining({ status: 403 })],
    ['wake.given_up', expect.objectContaining(warned)],
    ['subscription.degraded', expect.objectContaining(warned)],
  ])
  expect(await push.get(id)).toMatchObject({ id: 'mine' })
  expect((await gateway.move(donna, id, 'input-required')).status).toBe(200)

  receiver.respond(200)
  await push.create(id, receiver.url)
  expect((await gateway.move(donna, id, 'completed')).status).toBe(200)
  const pushes = await receiver.waitFor(2)
  expect(pushes[1]!.body.statusUpdate.status.state).toBe('TASK_STATE_COMPLETED')
  await untilRow(gateway, id, closed)
  expect(receiver.wakes).toHaveLength(2)
})

test('three events that failed in a row degrade a config', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock, random: () => 0 } })
  await using receiver = await startReceiver(500)
  const donna = await gateway.addAgent('donna')
  const { id } = await gateway.send('donna', 'work')
  await configs(gateway, donna).create(id, receiver.url)
  for (const state of ['working', 'input-required', 'working', 'completed']) {
    expect((await gateway.move(donna, id, state)).status).toBe(200)
  }
  const reason = '3 events failed in a row; the last: http-500'
  await untilRow(gateway, id, { status: 'degraded', reason, dueAt: null }, clock)
  expect(receiver.wakes).toHaveLength(12)
})

test('an address that is no longer allowed is never dialled, and counts as failed', async () => {
  await using receiver = await startReceiver()
  await using before = await startGateway()
  const donna = await before.addAgent('donna')
  const { id } = await before.send('donna', 'work')
  await configs(before, donna).create(id, receiver.url)
  await before.stop()
  await using after = await startGateway({ dataDir: before.dataDir, env: { ROUSE_WEBHOOK_ALLOW: 'none' } })
  await expect(configs(after, donna).create(id, receiver.url, 'other')).rejects.toThrow(/may not be reached/)
  for (const state of ['working', 'input-required', 'working']) {
    await after.move(donna, id, state)
  }
  await untilRow(after, id, { status: 'degraded', reason: '3 events failed in a row; the last: url-not-allowed' })
  expect(receiver.wakes).toEqual([])
  const failures = await eventsOf(after, 'wake.failed')
  expect(failures.map(({ data }) => data.reason)).toEqual(Array(3).fill('url-not-allowed'))
})
