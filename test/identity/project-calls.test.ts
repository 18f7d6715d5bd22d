import { SubscribeToTaskRequest } from '@a2a-js/sdk'
import { status } from '@grpc/grpc-js'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type OpenCall, type OpenCallKind, OpenCalls } from '../../src/identity/open-calls.ts'
import { bearer, rawClient, refusalOf } from '../grpc/raw-client.ts'
import { openEventStream } from '../support/event-stream.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { until } from '../support/until.ts'

const agent = (id: string, projectId = 'web', limits = {}) =>
  ({ kind: 'agent', id, projectId, keyId: `key of ${id}`, limits }) as const

test.each([
  ['streams', 'projectStreams'],
  ['blockingCalls', 'projectBlockingCalls'],
] as const)('%s: agents of a project meet %s together; one that ends frees a place', (kind, name) => {
  const calls = new OpenCalls(new FakeClock())
  const limits = { [name]: 3 }
  const [lola, bob] = [agent('lola', 'web', limits), agent('bob', 'web', limits)]
  const [first] = [calls.open(lola, kind), calls.open(bob, kind), calls.open(lola, kind)]
  for (const one of [lola, bob]) {
    expect(() => calls.open(one, kind)).toThrow(
      expect.objectContaining({
        code: 'limit-exceeded',
        extra: { limit: name, max: 3 },
        message: expect.stringMatching(/^This project has 3 open .*PATCH \/v1\/projects\/\{project\}/),
      }),
    )
  }
  calls.open(agent('zoe', 'blue', limits), kind)
  for (let n = 0; n < 5; n++) calls.open({ ...agent('operator', 'web', limits), kind: 'operator', keyId: `${n}` }, kind)
  // A call of the other kind, and one of none, counts for nothing.
  calls.open(lola, kind === 'streams' ? 'blockingCalls' : 'streams')
  calls.open(lola)
  first[Symbol.dispose]()
  first[Symbol.dispose]()
  calls.open(bob, kind)
  expect(() => calls.open(bob, kind)).toThrow(name)
  calls.open({ ...bob, limits: { [name]: 4 } }, kind)
  calls.open({ ...bob, limits: { [name]: 0 } }, kind)
})

test('whatever opens and ends, a project has as many calls as are open, and never more than it may have', () => {
  const step = fc.record({
    who: fc.nat(3),
    kind: fc.constantFrom<OpenCallKind>('streams', 'blockingCalls'),
    ends: fc.nat(20),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const limits = { projectStreams: 4, projectBlockingCalls: 3 }
      const calls = new OpenCalls(new FakeClock())
      const agents = ['lola', 'bob', 'zoe', 'ada'].map((id, n) => agent(id, n < 2 ? 'web' : 'blue', limits))
      const open: { call: OpenCall; key: string }[] = []
      for (const { who, kind, ends } of steps) {
        const [ended] = open.splice(ends, 1)
        ended?.call[Symbol.dispose]()
        const caller = agents[who]!
        const key = `${kind} ${caller.projectId}`
        const isFull = open.filter((one) => one.key === key).length >= (kind === 'streams' ? 4 : 3)
        if (isFull) expect(() => calls.open(caller, kind)).toThrow('This project has')
        else open.push({ call: calls.open(caller, kind), key })
      }
      for (const { call } of open) call[Symbol.dispose]()
      expect(calls.keys()).toEqual([])
    }),
  )
})

async function start() {
  const gateway = await startGateway({ overrides: { clock: new FakeClock() } })
  const [lola, bob, donna] = [
    await gateway.addAgent('lola'),
    await gateway.addAgent('bob'),
    await gateway.addAgent('donna'),
  ]
  return { gateway, lola, bob, donna, [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose]() }
}

const limit = (gateway: TestGateway, limits: Record<string, number>) =>
  gateway.call('PATCH', '/v1/projects/default', { limits })
const streamOf = (gateway: TestGateway, { key }: TestAgent) =>
  openEventStream(`${gateway.url}/v1/events`, { authorization: `Bearer ${key}` })

test('the streams of a project: each binding names the limit, and PATCH changes it at once', async () => {
  await using s = await start()
  const { id } = await s.gateway.send('donna', 'x', { key: s.bob.key })
  await s.gateway.call('POST', '/v1/projects', { project: 'red' })
  const zoe = await s.gateway.addAgent('zoe', { project: 'red' })
  await limit(s.gateway, { projectStreams: 2 })
  await using _lola = await streamOf(s.gateway, s.lola)
  await using _bob = await streamOf(s.gateway, s.bob)

  const refused = await s.gateway.call('GET', '/v1/events', undefined, {
    key: s.lola.key,
    headers: { accept: 'text/event-stream' },
  })
  expect([refused.status, refused.body.code]).toEqual([429, 'limit-exceeded'])
  expect(refused.body).toMatchObject({ limit: 'projectStreams', max: 2 })
  const metadata = { code: 'limit-exceeded', limit: 'projectStreams', max: '2' }
  const headers = { 'A2A-Version': '1.0' }
  const rpc = await s.gateway.call(
    'POST',
    '/agents/donna',
    { jsonrpc: '2.0', id: 1, method: 'SubscribeToTask', params: { id } },
    { key: s.bob.key, headers },
  )
  expect(rpc.body.error.data[0]).toMatchObject({ reason: 'LIMIT_EXCEEDED', metadata })
  const rest = await s.gateway.call('POST', `/agents/donna/tasks/${id}:subscribe`, undefined, {
    key: s.bob.key,
    headers,
  })
  expect([rest.status, rest.body.error.details[0].metadata]).toMatchObject([429, metadata])
  using grpc = rawClient(s.gateway.grpcTarget)
  const request = SubscribeToTaskRequest.fromJSON({ tenant: 'agents/donna', id })
  const stream = grpc.stream('subscribeToTask', request, bearer(s.bob.key))
  const error = await new Promise<Parameters<typeof refusalOf>[0]>((resolve) => stream.on('error', resolve as never))
  expect(refusalOf(error)).toMatchObject({ code: status.RESOURCE_EXHAUSTED, reason: 'LIMIT_EXCEEDED', info: metadata })

  await using _zoe = await streamOf(s.gateway, zoe)
  await using _operator = await streamOf(s.gateway, { handle: '@operator', key: s.gateway.adminKey })
  await limit(s.gateway, { projectStreams: 3 })
  await using _third = await streamOf(s.gateway, s.bob)
})

test('the waiting calls of a project: a blocking send and a wait for mail count together', async () => {
  await using s = await start()
  await s.gateway.call('POST', '/v1/sessions', { surface: 'codex' }, s.bob)
  await limit(s.gateway, { projectBlockingCalls: 1 })
  const blocking = s.gateway.send('donna', 'x', { key: s.lola.key, configuration: { returnImmediately: false } })
  // Its place is taken before its task is stored.
  const tasksOf = (count: number): Promise<{ id: string }[]> =>
    until(
      async () => (await s.gateway.call('GET', '/v1/tasks', undefined, s.donna)).body.tasks,
      (tasks) => tasks.length === count,
    )
  await tasksOf(1)
  const refused = await s.gateway.call('GET', '/v1/inbox?waitSeconds=1', undefined, s.bob)
  expect(refused.body).toMatchObject({ code: 'limit-exceeded', limit: 'projectBlockingCalls', max: 1 })
  const send = () => s.gateway.send('donna', 'y', { key: s.bob.key, configuration: { returnImmediately: false } })
  await expect(send()).rejects.toThrow('projectBlockingCalls')
  await limit(s.gateway, { projectBlockingCalls: 2 })
  const second = send()
  const tasks = await tasksOf(2)
  for (const { id } of tasks) await s.gateway.move(s.donna, id, 'completed')
  for (const task of await Promise.all([blocking, second])) {
    expect(task).toMatchObject({ status: { state: 'TASK_STATE_COMPLETED' } })
  }
})
