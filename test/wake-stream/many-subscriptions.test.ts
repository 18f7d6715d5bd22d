import { expect, test, vi } from 'vitest'
import { silentLogger } from '../../src/logger/logger.ts'
import type { Caller } from '../../src/registry/callers/caller.ts'
import type { WakeSubscription } from '../../src/registry/subscriptions/subscription.ts'
import { listSubscriptions } from '../../src/registry/subscriptions/subscription-store.ts'
import { StreamConnections } from '../../src/wake-stream/connections.ts'
import { WakeStreams } from '../../src/wake-stream/streams.ts'
import { startGateway } from '../support/gateway.ts'
import { besideStore, refuseInserts } from '../support/store.ts'
import { readWakes } from '../support/wake-reader.ts'
import { stateOf, untilStatus } from '../wakes/acts.ts'
import { openEngine } from '../wakes/engine.ts'

const caller = {
  kind: 'agent',
  id: 'agent_donna',
  projectId: 'default',
  keyId: 'admin',
  identity: '@donna',
  scopes: ['read', 'work'],
} as unknown as Caller
const reader = { write: () => undefined, release() {}, end() {} }

/** An agent whose subscriptions wait for a stream, and what connects them on one gateway. */
async function donnaHas(count: number) {
  const engine = await openEngine(async () => ({ outcome: 'delivered', reason: null, attempts: [] }))
  const ids = Array.from({ length: count }, (_, index) => `WAKE_SUB:${String(index).padStart(3, '0')}`)
  const waiting = { harnessTarget: 'bridge-daemon', target: {}, signingKey: 'key', status: 'waiting' } as const
  await engine.add(ids.map((id) => ({ id, ...waiting })))
  const { db, clock, dataDir } = engine
  const connections = new StreamConnections({
    db,
    clock,
    log: silentLogger,
    append: engine.context.append,
    gatewayId: 'gateway',
    streams: new WakeStreams(),
    target: 'bridge-daemon',
    random: () => 0.5,
    onStep: async () => {},
    changed() {},
  })
  const read = async (pick: (subscription: WakeSubscription) => unknown) =>
    new Set((await listSubscriptions(db, 'agent_donna')).map(pick))
  const statuses = async () => [...(await read(({ status }) => status))]
  const events = async () =>
    (await besideStore(dataDir, 'select data from event order by log_id')).map(({ data }) => JSON.parse(String(data)))
  const transactions = vi.spyOn(db, 'transaction')
  const end = async () => {
    await connections[Symbol.asyncDispose]()
    await engine[Symbol.asyncDispose]()
  }
  return { ids, db, dataDir, connections, statuses, events, transactions, [Symbol.asyncDispose]: end }
}

test('a stream of fifty subscriptions opens in one transaction and ends in one, with an event for each', async () => {
  await using s = await donnaHas(50)
  const connection = await s.connections.connect(caller, s.ids, ['spawn'], reader)
  expect([await s.statuses(), s.transactions.mock.calls.length]).toEqual([['active'], 1])
  connection.begin()
  await connection[Symbol.asyncDispose]()
  expect([await s.statuses(), s.transactions.mock.calls.length]).toEqual([['waiting'], 2])
  const events = await s.events()
  expect(events.map(({ subscriptionId }) => subscriptionId)).toEqual([...s.ids, ...s.ids])
  expect(events.map(({ status }) => status)).toEqual([...Array(50).fill('active'), ...Array(50).fill('waiting')])
})

test('streams of more subscriptions than one statement locks end together', async () => {
  await using s = await donnaHas(150)
  const halves = [s.ids.slice(0, 75), s.ids.slice(75)]
  const open = await Promise.all(halves.map((ids) => s.connections.connect(caller, ids, [], reader)))
  for (const one of open) one.begin()
  s.transactions.mockClear()
  await s.connections.end(open)
  expect([await s.statuses(), s.transactions.mock.calls.length]).toEqual([['waiting'], 1])
})

test('an end that the store did not take is recorded by the next sweep, for all of them or for none', async () => {
  await using s = await donnaHas(50)
  const connection = await s.connections.connect(caller, s.ids, [], reader)
  connection.begin()
  const accept = await refuseInserts(s.dataDir, 'event')
  await connection[Symbol.asyncDispose]()
  expect(await s.statuses()).toEqual(['active'])
  await accept()
  await s.connections.sweep.run(new AbortController().signal)
  expect(await s.statuses()).toEqual(['waiting'])
  expect(await s.events()).toHaveLength(100)
})

test('a stream that ends late leaves those of its subscriptions alone that a newer one has', async () => {
  await using s = await donnaHas(20)
  const older = await s.connections.connect(caller, s.ids, [], reader)
  // It never began here: as if the newer one were on another gateway, and no message about it had come.
  await s.connections.connect(caller, s.ids.slice(5, 15), [], reader)
  await older[Symbol.asyncDispose]()
  const waiting = (await listSubscriptions(s.db, 'agent_donna')).filter(({ status }) => status === 'waiting')
  expect(waiting.map(({ id }) => id).sort()).toEqual([...s.ids.slice(0, 5), ...s.ids.slice(15)])
})

test('a stream is connected to none of its subscriptions when one of them is not there', async () => {
  await using s = await donnaHas(20)
  const connecting = s.connections.connect(caller, [...s.ids, 'WAKE_SUB:none'], [], reader)
  await expect(connecting).rejects.toMatchObject({ code: 'subscription-not-found' })
  expect([await s.statuses(), await s.events()]).toEqual([['waiting'], []])
})

test('a session is connected to those that are there', async () => {
  await using s = await donnaHas(20)
  await using connection = await s.connections.connectFit(caller, [...s.ids, 'WAKE_SUB:none'], reader)
  expect(connection.connected.map(({ id, status }) => [id, status])).toEqual(s.ids.map((id) => [id, 'waiting']))
  expect(await s.statuses()).toEqual(['active'])
})

test('a newer stream that has taken some of the subscriptions keeps them, and their wakes, when the older one ends', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const ids: string[] = []
  for (let count = 0; count < 6; count++) {
    const input = {
      trigger: 'SENT_TO_ME',
      harnessTarget: 'bridge-daemon',
      harnessTargetMetadata: { coalesceWindow: 0 },
    }
    ids.push((await gateway.call('POST', '/v1/wake-subscriptions', input, donna)).body.subscriptionId)
  }
  const older = await readWakes(gateway, donna, ids)
  await using newer = await readWakes(gateway, donna, ids.slice(3))
  await older[Symbol.asyncDispose]()
  for (const id of ids.slice(0, 3)) await untilStatus(gateway, donna, id, 'waiting')
  for (const id of ids.slice(3)) expect(await stateOf(gateway, donna, id)).toMatchObject({ status: 'active' })
  await gateway.send('donna', 'hello')
  const [wake] = await newer.waitFor(1)
  expect(ids.slice(3)).toContain(wake!.body.subscriptionId)
})
