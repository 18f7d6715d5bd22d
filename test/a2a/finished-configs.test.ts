import { expect, test } from 'vitest'
import type { JsonObject } from '../../src/lib/json.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { besideStore } from '../support/store.ts'
import { advanceUntil } from '../wakes/acts.ts'
import { wireTo } from './wire.ts'

const url = 'http://127.0.0.1:9/'

async function start(limits: JsonObject) {
  const clock = new FakeClock()
  const gateway = await startGateway({ overrides: { clock } })
  await gateway.call('PATCH', '/v1/projects/default', { limits: { requestsPerMinute: 0, ...limits } })
  const mallory = await gateway.addAgent('mallory')
  return { gateway, clock, mallory, [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose]() }
}

function configs(gateway: TestGateway, agent: TestAgent) {
  const call = async (method: string, params: JsonObject) => {
    const { body } = await wireTo(gateway, agent, agent.key).rpc(method, params)
    if (body.error) throw new Error(JSON.stringify(body.error))
    return body.result
  }
  return {
    create: (taskId: string, id: string) =>
      call('CreateTaskPushNotificationConfig', { taskId, url, id, token: 't'.repeat(8_000) }),
    ids: async (taskId: string): Promise<string[]> =>
      ((await call('ListTaskPushNotificationConfigs', { taskId })).configs ?? []).map(({ id }: { id: string }) => id),
  }
}

const counts = async ({ dataDir }: TestGateway) => {
  const text = `select status, count(*) as "count" from subscription where kind = 'push' group by status`
  const rows = await besideStore(dataDir, text)
  return Object.fromEntries(rows.map(({ status, count }) => [status, Number(count)]))
}

// The attack: a task to oneself, finished, with as many configs as it may have; then the next task.
test('configs on finished tasks do not grow without bound: the oldest go, and those of open tasks stay', async () => {
  await using s = await start({ owned: 20 })
  const { gateway, mallory } = s
  const push = configs(gateway, mallory)
  const own = (text: string) => gateway.send('mallory', text, { key: mallory.key })
  const open = await own('open')
  await push.create(open.id, 'open')
  const finished: string[] = []
  for (let n = 0; n < 5; n++) {
    const { id } = await own(`task ${n}`)
    await gateway.move(mallory, id, 'completed')
    for (let m = 0; m < 10; m++) await push.create(id, `c${m}`)
    finished.push(id)
    s.clock.advance(1_000)
  }
  expect(await counts(gateway)).toEqual({ active: 1, paused: 18 })
  expect(await push.ids(open.id)).toEqual(['open'])
  expect(await push.ids(finished[0]!)).toEqual([])
  expect(await push.ids(finished[4]!)).toHaveLength(10)
  const { events } = (await gateway.call('GET', '/v1/events?limit=1000')).body
  const deleted = events.filter(({ type }: { type: string }) => type === 'push_config.deleted')
  expect(deleted).toHaveLength(32)
  expect(deleted[0].data).toMatchObject({ taskId: finished[0], reason: 'task finished' })
  // Configs of open tasks are refused where they alone are as many as are allowed, and remove none.
  const more = await own('more')
  for (let m = 0; m < 10; m++) await push.create(open.id, `o${m}`).catch(() => {})
  for (let m = 0; m < 10; m++) await push.create(more.id, `m${m}`).catch(() => {})
  expect(await counts(gateway)).toEqual({ active: 20 })
  await expect(push.create(finished[4]!, 'late')).rejects.toThrow('owned')
})

test('the many configs of a revoked key send nothing at once, and are deleted in batches', async () => {
  await using s = await start({ owned: 0 })
  const { gateway, clock, mallory } = s
  const { body: leaked } = await gateway.call('POST', '/v1/agents/mallory/keys', {}, mallory)
  const push = configs(gateway, { ...mallory, key: leaked.apiKey })
  const { id } = await gateway.send('mallory', 'x', { key: mallory.key })
  const { id: finished } = await gateway.send('mallory', 'y', { key: mallory.key })
  await gateway.move(mallory, finished, 'completed')
  for (let n = 0; n < 90; n++) await push.create(id, `c${n}`)
  for (let n = 0; n < 90; n++) await push.create(finished, `c${n}`)
  await gateway.call('DELETE', `/v1/agents/mallory/keys/${leaked.keyId}`, undefined, mallory)
  expect(await counts(gateway)).toEqual({ paused: 80 })
  await advanceUntil(
    clock,
    5_000,
    () => counts(gateway),
    (left) => Object.keys(left).length === 0,
  )
  const { events } = (await gateway.call('GET', '/v1/events?limit=1000')).body
  const reasons = events
    .filter(({ type }: { type: string }) => type === 'push_config.deleted')
    .map(({ data }: { data: JsonObject }) => data.reason)
  expect(reasons).toEqual(Array(180).fill('key-revoked'))
})

test('an agent with many finished configs is removed with them', async () => {
  await using s = await start({ owned: 0 })
  const { gateway, mallory } = s
  const push = configs(gateway, mallory)
  const { id } = await gateway.send('mallory', 'x', { key: mallory.key })
  await gateway.move(mallory, id, 'completed')
  for (let n = 0; n < 90; n++) await push.create(id, `c${n}`)
  expect((await gateway.call('DELETE', '/v1/agents/mallory')).status).toBeLessThan(300)
  expect(await counts(gateway)).toEqual({})
})
