import { expect, test } from 'vitest'
import { operator } from '../../src/registry/caller.ts'
import type { DeliveryOrder, DeliveryResult } from '../../src/wakes/channel.ts'
import { Dispatcher } from '../../src/wakes/dispatcher.ts'
import { unsubscribe } from '../../src/wakes/subscriptions.ts'
import { until } from '../support/until.ts'
import { arrived, type Engine, openEngine } from './engine.ts'

const stopped: DeliveryResult = { ...arrived, outcome: 'stopped' }
const targets = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ id: `WAKE_SUB:${i}`, target: { url: `http://127.0.0.1:9/${i}` } }))

function startDispatcher(engine: Engine): Dispatcher {
  const dispatcher = new Dispatcher(engine.context)
  engine.changes.due = (at) => dispatcher.nudge(at)
  engine.changes.changed = (id) => {
    dispatcher.interrupt(id)
    dispatcher.nudge()
  }
  dispatcher.start()
  return dispatcher
}

/** A receiver that hangs until it is let go, or the run is ended. */
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

test('with every slot taken the next subscription waits for one, and the process stays alive', async () => {
  const hanging = new Hanging()
  await using engine = await openEngine(hanging.deliver)
  await engine.add(targets(1010))
  await using dispatcher = startDispatcher(engine)
  await engine.append()
  await until(
    () => hanging.orders.length,
    (count) => count === 1000,
  )
  expect(dispatcher.runCount).toBe(1000)
  for (let more = 1; more <= 10; more++) {
    hanging.letGo()
    await until(
      () => hanging.orders.length,
      (count) => count === 1000 + more,
    )
  }
})

test('a run that only waits for its next try takes no slot', async () => {
  const orders: DeliveryOrder[] = []
  await using engine = await openEngine(async (order) => {
    orders.push(order)
    return (await order.retryAt([], engine.clock.now() + 1000)) ? arrived : stopped
  })
  await engine.add(targets(1010))
  await using _dispatcher = startDispatcher(engine)
  await engine.append()
  await until(
    () => orders.length,
    (count) => count === 1010,
  )
})

test('a stop ends every wait at once and leaves no timer', async () => {
  await using engine = await openEngine(async (order) =>
    (await order.retryAt([], engine.clock.now() + 5000)) ? arrived : stopped,
  )
  await engine.add(targets(10))
  const dispatcher = startDispatcher(engine)
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

test('nothing more begins for a subscription once its removal is answered', async () => {
  const hanging = new Hanging()
  await using engine = await openEngine(hanging.deliver)
  await engine.add(targets(1))
  await using dispatcher = startDispatcher(engine)
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

test('whatever a channel throws, the subscription degrades and loses nothing', async () => {
  await using engine = await openEngine(() => Promise.reject(new Error('no key')))
  await engine.add(targets(1))
  await using _dispatcher = startDispatcher(engine)
  const logId = await engine.append()
  const { findSubscription } = await import('../../src/registry/subscription-store.ts')
  const state = await until(
    () => findSubscription(engine.db, 'WAKE_SUB:0'),
    (subscription) => subscription?.status === 'degraded',
  )
  expect(state).toMatchObject({ reason: 'misconfigured', cursorLogId: logId - 1 })
})
