import { expect, test } from 'vitest'
import { operator } from '../../src/registry/callers/caller.ts'
import { p, sql, statement } from '../../src/storage/statement.ts'
import { unsubscribe } from '../../src/subscriptions/unsubscribe.ts'
import type { DeliveryOrder, DeliveryResult } from '../../src/wakes/channel.ts'
import { until } from '../support/until.ts'
import { arrived, openEngine } from './engine.ts'

const stopped: DeliveryResult = { ...arrived, outcome: 'stopped' }
/** Subscriptions of several agents, all to the events of one. */
const targets = (count: number, agents = 8) =>
  Array.from({ length: count }, (_, i) => ({
    id: `WAKE_SUB:${i}`,
    agentId: `agent_${i % agents}`,
    target: { url: `http://127.0.0.1:9/${i}` },
  }))

const dueLater = statement<{ now: number }>(
  sql`update subscription set due_at = ${p('now')} where id = 'WAKE_SUB:late'`,
)

/** A receiver that hangs until it is released, or the run ends. */
class Hanging {
  readonly orders: DeliveryOrder[] = []
  readonly #letGo: (() => void)[] = []

  deliver = (order: DeliveryOrder): Promise<DeliveryResult> => {
    this.orders.push(order)
    return new Promise((resolve) => {
      this.#letGo.push(() => resolve(arrived))
      order.signal.addEventListener('abort', () => resolve(stopped))
    })
  }

  letGo(): void {
    this.#letGo.shift()?.()
  }
}

test('when all slots are in use the next subscription waits for one, and the process stays alive', async () => {
  const hanging = new Hanging()
  await using engine = await openEngine(hanging.deliver)
  await engine.add(targets(1546))
  await using dispatcher = engine.start()
  await engine.append()
  await until(
    () => hanging.orders.length,
    (count) => count === 1536,
  )
  expect(dispatcher.runCount).toBe(1536)
  for (let more = 1; more <= 10; more++) {
    hanging.letGo()
    await until(
      () => hanging.orders.length,
      (count) => count === 1536 + more,
    )
  }
})

test('a run that only waits for its next try takes no slot, from its agent neither', async () => {
  const orders: DeliveryOrder[] = []
  await using engine = await openEngine(async (order) => {
    orders.push(order)
    return (await order.retryAt([], engine.clock.now() + 1000)) ? arrived : stopped
  })
  await engine.add(targets(1546, 1))
  await using _dispatcher = engine.start()
  await engine.append()
  await until(
    () => orders.length,
    (count) => count === 1546,
  )
})

test('one agent’s subscriptions use at most 512 runs, and those of other agents are leased before the rest', async () => {
  const hanging = new Hanging()
  await using engine = await openEngine(hanging.deliver)
  await engine.add(targets(1_000, 1))
  await engine.add([{ id: 'WAKE_SUB:late', agentId: 'agent_late', target: { url: 'http://127.0.0.1:9/late' } }])
  await engine.append()
  // The subscription that is due last would be leased last.
  engine.clock.advance(1)
  await engine.db.transaction((tx) => tx.run(dueLater, { now: tx.now }))
  await using dispatcher = engine.start()
  const isLate = ({ subscription }: DeliveryOrder) => subscription.id === 'WAKE_SUB:late'
  await until(
    () => hanging.orders.some(isLate),
    (found) => found,
  )
  expect(dispatcher.runCount).toBe(513) // eight claims of 64, and the late one
  await until(
    () => hanging.orders.length,
    (count) => count === 513,
  )
  for (let more = 1; more <= 488; more++) hanging.letGo()
  await until(
    () => hanging.orders.length,
    (count) => count === 1_001,
  )
})

test('a stop ends every wait at once and leaves no timer', async () => {
  await using engine = await openEngine(async (order) =>
    (await order.retryAt([], engine.clock.now() + 5000)) ? arrived : stopped,
  )
  await engine.add(targets(10))
  const dispatcher = engine.start()
  await engine.append()
  await until(
    () => engine.clock.timerCount,
    (count) => count >= 10,
  )
  await dispatcher.stop()
  expect(dispatcher.runCount).toBe(0)
  expect(dispatcher.isRunning).toBe(false)
  expect(engine.clock.timerCount).toBe(0)
})

test('no run begins for a subscription after its removal is answered', async () => {
  const hanging = new Hanging()
  await using engine = await openEngine(hanging.deliver)
  await engine.add(targets(1))
  await using dispatcher = engine.start()
  for (let i = 0; i < 5; i++) await engine.append()
  await until(
    () => hanging.orders.length,
    (count) => count === 1,
  )
  await unsubscribe(engine.subscriptions, operator, 'WAKE_SUB:0')
  await until(
    () => dispatcher.runCount,
    (count) => count === 0,
  )
  expect(hanging.orders).toHaveLength(1)
})

test('when a channel throws, the subscription degrades and loses nothing', async () => {
  await using engine = await openEngine(() => Promise.reject(new Error('no key')))
  await engine.add(targets(1))
  await using _dispatcher = engine.start()
  const logId = await engine.append()
  const { findSubscription } = await import('../../src/registry/subscriptions/subscription-store.ts')
  const state = await until(
    () => findSubscription(engine.db, 'WAKE_SUB:0'),
    (subscription) => subscription?.status === 'degraded',
  )
  expect(state).toMatchObject({ reason: 'misconfigured', cursorLogId: logId - 1 })
})
