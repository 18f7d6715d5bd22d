import { expect, test } from 'vitest'
import { clearRemoved } from '../../src/registry/subscriptions/removed-store.ts'
import { deleteSubscriptions } from '../../src/registry/subscriptions/subscription-store.ts'
import { stepRows } from '../../src/storage/delete-in-batches.ts'
import { insertHeld } from '../../src/wakes/store/held-store.ts'
import { listHolding } from '../../src/wakes/store/released-store.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { besideStore } from '../support/store.ts'
import { advanceUntil } from '../wakes/acts.ts'
import { noon } from '../wakes/builders.ts'
import { arrived, type Engine, openEngine } from '../wakes/engine.ts'

const rowsHeld = 3 * stepRows + 10
const ids = ['WAKE_SUB:1', 'WAKE_SUB:2']

test('what removed subscriptions leave is deleted in steps, and a stop between two loses nothing', async () => {
  await using engine = await openEngine(async () => arrived)
  await engine.add([...ids, 'WAKE_SUB:3'].map((id) => ({ id, harnessTarget: 'bridge-daemon' as const })))
  for (const id of [...ids, 'WAKE_SUB:3']) await hold(engine, id)
  await engine.db.transaction((tx) => deleteSubscriptions(tx, ids))
  expect(await count(engine.dataDir, 'held_wake')).toBe(3 * rowsHeld)
  // Their rows are not in the way of others.
  expect((await listHolding(engine.db, '', 10)).holding.map(({ id }) => id)).toEqual(['WAKE_SUB:3'])

  const stopped = new AbortController()
  let steps = 0
  const stopping = {
    ...engine.db,
    transaction: engine.db.transaction.bind(engine.db),
    all: engine.db.all.bind(engine.db),
  }
  const counting: typeof stopping.transaction = async (work) => {
    const result = await engine.db.transaction(work)
    steps += 1
    if (steps === 3) stopped.abort()
    return result
  }
  const before = engine.clock.now() + 1
  await clearRemoved({ ...stopping, transaction: counting } as unknown as typeof engine.db, before, stopped.signal)
  const left = await count(engine.dataDir, 'held_wake')
  expect(left).toBeGreaterThan(rowsHeld)
  expect(left).toBeLessThan(3 * rowsHeld)
  expect(await count(engine.dataDir, 'removed_subscription')).toBe(2)

  const { signal } = new AbortController()
  expect(await clearRemoved(engine.db, before, signal)).toBe(left - rowsHeld)
  expect(await count(engine.dataDir, 'held_wake')).toBe(rowsHeld)
  expect(await count(engine.dataDir, 'removed_subscription')).toBe(0)
})

test('a removed agent leaves no rows a minute later', async () => {
  const clock = new FakeClock(noon)
  await using gateway = await startGateway({ overrides: { clock } })
  const donna = await gateway.addAgent('donna')
  const input = { trigger: 'SENT_TO_ME', harnessTarget: 'none' }
  const { body } = await gateway.call('POST', '/v1/wake-subscriptions', input, donna)
  await mail(gateway)
  expect(await count(gateway.dataDir, 'held_wake')).toBe(1)
  expect((await gateway.call('DELETE', '/v1/agents/donna')).status).toBe(200)
  expect((await gateway.call('GET', `/v1/wake-subscriptions/${body.subscriptionId}/held`)).status).toBe(404)
  await advanceUntil(
    clock,
    10_000,
    () => count(gateway.dataDir, 'held_wake'),
    (left) => left === 0,
  )
  await advanceUntil(
    clock,
    10_000,
    () => count(gateway.dataDir, 'removed_subscription'),
    (left) => left === 0,
  )
})

async function mail(gateway: TestGateway): Promise<void> {
  const message = { to: '@donna', subject: 'hello', wakePolicy: 'immediate' }
  expect((await gateway.call('POST', '/v1/messages', message)).status).toBe(201)
}

async function hold(engine: Engine, subscriptionId: string): Promise<void> {
  const held = [...Array(rowsHeld).keys()].map((n) => ({
    subscriptionId,
    event: { projectId: 'default', logId: n + 1 },
    decision: { action: 'hold_for_next_turn', reason: 'user_typing' } as const,
    presence: 'userTyping' as const,
  }))
  await engine.db.transaction((tx) => insertHeld(tx, held))
}

async function count(dataDir: string, table: string): Promise<number> {
  return Number((await besideStore(dataDir, `select count(*) as count from ${table}`))[0]!.count)
}
