import { expect, test } from 'vitest'
import { singleGateway } from '../../src/cluster/cluster.ts'
import { LogNotifier } from '../../src/log/log-notifier.ts'
import { defaultProject } from '../../src/registry/projects/project-store.ts'
import type { DeliveryOrder, DeliveryResult } from '../../src/wakes/channel.ts'
import { createEventWriter } from '../../src/wakes/commit/event-writer.ts'
import { until } from '../support/until.ts'
import { messageSent } from './builders.ts'
import { arrived, type Engine, openEngine } from './engine.ts'

/** One gateway of several on a store; its receiver answers when it is let. */
function join(engine: Engine, id: string, notifyPeers: () => void, hasPeers = true) {
  const orders: DeliveryOrder[] = []
  const letGo: (() => void)[] = []
  let isEnding = false
  const deliver = (order: DeliveryOrder): Promise<DeliveryResult> => {
    orders.push(order)
    if (isEnding) return Promise.resolve(arrived)
    return new Promise((resolve) => letGo.push(() => resolve(arrived)))
  }
  const cluster = { ...singleGateway(), id, hasPeers: () => hasPeers, notifyDue: notifyPeers }
  const gateway = engine.start({ receiver: deliver, cluster })
  const { db } = engine
  return {
    orders,
    gateway,
    async append(): Promise<void> {
      const { type, actor, data } = messageSent(0)
      const event = { type, actor, data, audience: ['agent_donna'] }
      await db.transaction((tx) => gateway.append(tx, defaultProject, [event]))
    },
    /** Waits for the `count`th request of the receiver and answers it. */
    async answer(count: number): Promise<void> {
      await until(
        () => orders.length,
        (calls) => calls >= count,
      )
      letGo[count - 1]!()
    },
    async [Symbol.asyncDispose]() {
      isEnding = true
      for (const go of letGo) go()
      await gateway.stop()
    },
  }
}

const logIds = (orders: readonly DeliveryOrder[]): number[] => orders.map(({ emission }) => emission.logId)

test('a subscription that always has more to send goes to another gateway after two seconds, and not before', async () => {
  await using engine = await openEngine(async () => arrived)
  await engine.add([{ coalesceMs: 0 }])
  await using second = join(engine, 'second', () => {})
  await using first = join(engine, 'first', () => second.gateway.notifyDue())
  for (let count = 0; count < 4; count++) await first.append()
  engine.clock.advance(1_000)
  await first.answer(1)
  await first.answer(2)
  await until(
    () => first.orders.length,
    (count) => count === 3,
  )
  // More comes while the third is under way, as it does for one that is always busy.
  await second.append()
  engine.clock.advance(1_000)
  await first.answer(3)
  await first.answer(4)
  await second.answer(1)
  expect(logIds(first.orders)).toEqual([1, 2, 3, 4])
  expect(logIds(second.orders)).toEqual([5])
})

test('a long backlog is yielded between two of its pages', async () => {
  await using engine = await openEngine(async () => arrived)
  await engine.add([{ coalesceMs: 0 }])
  await using second = join(engine, 'second', () => {})
  await using first = join(engine, 'first', () => second.gateway.notifyDue())
  for (let count = 0; count < 70; count++) await first.append()
  await first.answer(1)
  await first.answer(2)
  engine.clock.advance(2_000)
  for (let count = 3; count <= 65; count++) await first.answer(count)
  await second.answer(1)
  expect(logIds(first.orders)).toEqual(Array.from({ length: 65 }, (_, index) => index + 1))
  expect(logIds(second.orders)[0]).toBe(66)
})

test('a gateway yields nothing if no other gateway could take it', async () => {
  await using engine = await openEngine(async () => arrived)
  await engine.add([{ coalesceMs: 0 }])
  await using alone = join(engine, 'alone', () => {}, false)
  const elsewhere = createEventWriter(new LogNotifier())
  await alone.append()
  engine.clock.advance(3_000)
  const { type, actor, data } = messageSent(0)
  await engine.db.transaction((tx) =>
    elsewhere.append(tx, defaultProject, [{ type, actor, data, audience: ['agent_donna'] }]),
  )
  await alone.answer(1)
  await alone.answer(2)
  expect(alone.orders[1]!.subscription.leaseOwner).toBe(alone.orders[0]!.subscription.leaseOwner)
})
