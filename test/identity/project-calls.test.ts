import { SubscribeToTaskRequest } from '@a2a-js/sdk'
import { status } from '@grpc/grpc-js'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type OpenCall, type OpenCallKind, OpenCalls } from '../../src/identity/open-calls.ts'
import { projectFactor } from '../../src/limits.ts'
import { bearer, rawClient, refusalOf } from '../grpc/raw-client.ts'
import { openEventStream } from '../support/event-stream.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { liftRates, startGateway } from '../support/gateway.ts'

const agent = (id: string, projectId = 'web', limits = {}) =>
  ({ kind: 'agent', id, projectId, keyId: `key of ${id}`, limits }) as const

const projectMax = projectFactor
const kinds: OpenCallKind[] = ['streams', 'blockingCalls']

test.each(kinds)('%s: agents of a project meet a limit together; one that ends frees a place', (kind) => {
  const calls = new OpenCalls(new FakeClock())
  const limits = { [kind]: 1 }
  const open = Array.from({ length: projectMax }, (_, n) => calls.open(agent(`${n}`, 'web', limits), kind))
  const bob = agent('bob', 'web', limits)
  expect(() => calls.open(bob, kind)).toThrow(
    expect.objectContaining({
      code: 'limit-exceeded',
      extra: expect.objectContaining({ limit: kind, max: projectMax }),
      message: expect.stringMatching(/^This project has 20 open .*PATCH \/v1\/projects\/\{project\}/),
    }),
  )
  calls.open(agent('zoe', 'blue', limits), kind)
  for (let n = 0; n < 5; n++) calls.open({ ...bob, limits: {}, kind: 'operator' }, kind)
  // A call of the other kind, and one of none, counts for nothing.
  calls.open(bob, kind === 'streams' ? 'blockingCalls' : 'streams')
  calls.open(bob)
  for (const one of [open[0], open[0]]) one![Symbol.dispose]()
  calls.open(agent('eve', 'web', limits), kind)
  expect(() => calls.open(agent('ada', 'web', limits), kind)).toThrow(kind)
  calls.open(agent('ada', 'web', { [kind]: 0 }), kind)
})

test('whatever opens and ends, a project has as many calls as are open, and never more than it may have', () => {
  const step = fc.record({ who: fc.nat(29), kind: fc.constantFrom(...kinds), ends: fc.nat(60) })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
      const limits = { streams: 2, blockingCalls: 2 }
      const calls = new OpenCalls(new FakeClock())
      const open: { call: OpenCall; key: string }[] = []
      for (const { who, kind, ends } of steps) {
        const [ended] = open.splice(ends, 1)
        ended?.call[Symbol.dispose]()
        const caller = agent(`${who}`, who < 25 ? 'web' : 'blue', limits)
        const key = `${kind} ${caller.projectId}`
        const held = open.filter((one) => one.key === key).length
        expect(held).toBeLessThanOrEqual(2 * projectMax)
        const opened = attempt(() => calls.open(caller, kind))
        if (held >= 2 * projectMax) expect(opened).toBeUndefined()
        if (opened) open.push({ call: opened, key })
      }
      for (const { call } of open) call[Symbol.dispose]()
      expect(calls.keys()).toEqual([])
    }),
  )
})

function attempt<T>(open: () => T): T | undefined {
  try {
    return open()
  } catch {
    return undefined
  }
}

test('the streams of a project: each binding names the limit, and PATCH changes it at once', async () => {
  await using gateway = await startGateway({ overrides: { clock: new FakeClock() } })
  await liftRates(gateway)
  const donna = await gateway.addAgent('donna')
  const bob = await gateway.addAgent('bob')
  const { id } = await gateway.send('donna', 'x', { key: bob.key })
  const limit = (limits: object) => gateway.call('PATCH', '/v1/projects/default', { limits })
  const streamOf = ({ key }: { key: string }) =>
    openEventStream(`${gateway.url}/v1/events`, { authorization: `Bearer ${key}` })
  await limit({ streams: 1 })
  const open: AsyncDisposable[] = []
  await using _open = {
    [Symbol.asyncDispose]: async () => void (await Promise.all(open.map((one) => one[Symbol.asyncDispose]()))),
  }
  for (let n = 0; n < projectMax; n++) open.push(await streamOf(await gateway.addAgent(`reader-${n}`)))

  const accept = { accept: 'text/event-stream' }
  const refused = await gateway.call('GET', '/v1/events', undefined, { key: donna.key, headers: accept })
  expect([refused.status, refused.body.code]).toEqual([429, 'limit-exceeded'])
  expect(refused.body).toMatchObject({ limit: 'streams', max: projectMax })
  const metadata = { code: 'limit-exceeded', limit: 'streams', max: `${projectMax}` }
  const headers = { 'A2A-Version': '1.0' }
  const subscribe = { jsonrpc: '2.0', id: 1, method: 'SubscribeToTask', params: { id } }
  const rpc = await gateway.call('POST', '/agents/donna', subscribe, { key: bob.key, headers })
  expect(rpc.body.error.data[0]).toMatchObject({ reason: 'LIMIT_EXCEEDED', metadata })
  using grpc = rawClient(gateway.grpcTarget)
  const request = SubscribeToTaskRequest.fromJSON({ tenant: 'agents/donna', id })
  const stream = grpc.stream('subscribeToTask', request, bearer(bob.key))
  const error = await new Promise<Parameters<typeof refusalOf>[0]>((resolve) => stream.on('error', resolve as never))
  expect(refusalOf(error)).toMatchObject({ code: status.RESOURCE_EXHAUSTED, reason: 'LIMIT_EXCEEDED', info: metadata })

  await using _operator = await streamOf({ key: gateway.adminKey })
  await limit({ streams: 2 })
  await using _bob = await streamOf(bob)
})
