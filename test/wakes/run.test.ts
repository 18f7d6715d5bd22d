import { expect, test } from 'vitest'
import { findSubscription } from '../../src/registry/subscriptions/subscription-store.ts'
import type { DeliveryOrder, DeliveryResult } from '../../src/wakes/channel.ts'
import type { RunContext } from '../../src/wakes/run/run.ts'
import { runSubscription } from '../../src/wakes/run/run-subscription.ts'
import { listDeliveries } from '../../src/wakes/store/delivery-store.ts'
import { leaseDue } from '../../src/wakes/store/lease-store.ts'
import { until } from '../support/until.ts'
import { advanceUntil } from './acts.ts'
import { arrived, type Engine, openEngine } from './engine.ts'

const id = 'WAKE_SUB:1'
const target = { url: 'http://127.0.0.1:9/' }
const stopped: DeliveryResult = { ...arrived, outcome: 'stopped' }

/** Starts the run of a subscription that is due, and notes when it says that it waits. */
async function start(engine: Engine, context: Partial<RunContext> = {}) {
  const [subscription] = await leaseDue(engine.db, 'me', 1)
  const controller = new AbortController()
  const waiting: boolean[] = []
  const { signal } = controller
  const control = { signal, setWaiting: (isWaiting: boolean) => waiting.push(isWaiting) }
  const ended = runSubscription({ ...engine.context, ...context }, subscription!, 'me', control)
  return { ended, waiting, stop: () => controller.abort() }
}

const stored = async (engine: Engine) => (await findSubscription(engine.db, id))!

test('a wait of more than ten seconds is left to the store, with the cursor after the delivered events', async () => {
  const sent: number[] = []
  await using engine = await openEngine(async (order) => {
    const { emission } = order
    sent.push(emission.logId)
    if (emission.logId === 1) return arrived
    return (await order.retryAt([], engine.clock.now() + 20_000)) ? arrived : stopped
  })
  await engine.add([{ id, coalesceMs: 0, target: { ...target, maxInFlight: 2 } }])
  await engine.append()
  await engine.append()
  const run = await start(engine)
  expect(await run.ended).toBeUndefined()
  const dueAt = engine.clock.now() + 20_000
  expect(await stored(engine)).toMatchObject({ leaseOwner: null, dueAt, cursorLogId: 1, lastEmittedLogId: 1 })
  const deliveries = await listDeliveries(engine.db, id, '', 10)
  expect(deliveries.map(({ outcome }) => outcome).sort()).toEqual(['delivered', 'pending'])
  // Both may be in flight at once, in any order.
  expect(sent.sort()).toEqual([1, 2])
})

test('a run that waits for one try says so, one that has another in flight does not', async () => {
  const answers: (() => void)[] = []
  const done: number[] = []
  const deliver = async (order: DeliveryOrder): Promise<DeliveryResult> => {
    const { emission } = order
    if (emission.logId === 1) await new Promise<void>((resolve) => answers.push(resolve))
    const result = (await order.retryAt([], engine.clock.now() + 1_000)) ? arrived : stopped
    done.push(emission.logId)
    return result
  }
  await using engine = await openEngine(deliver)
  await engine.add([{ id, coalesceMs: 0, target: { ...target, maxInFlight: 2 } }])
  await engine.append()
  await engine.append()
  const run = await start(engine)
  const timers = (count: number) =>
    until(
      () => engine.clock.timerCount,
      (timerCount) => timerCount === count,
    )
  await timers(1)
  expect(run.waiting).toEqual([])
  await advanceUntil(
    engine.clock,
    1_000,
    () => done.length,
    (count) => count === 1,
  )
  answers[0]!()
  await until(
    () => run.waiting,
    (waiting) => waiting.length === 1,
  )
  expect(run.waiting).toEqual([true])
  await advanceUntil(
    engine.clock,
    1_000,
    () => done.length,
    (count) => count === 2,
  )
  await run.ended
  expect(run.waiting).toEqual([true, false])
  expect(await stored(engine)).toMatchObject({ leaseOwner: null, dueAt: null, cursorLogId: 2 })
})

test('a run that is stopped while it waits is requeued, due at once, with its tries on record', async () => {
  const tries = [{ at: '2026-04-26T10:00:00.000Z', status: 503, durationMs: 1, error: null }]
  await using engine = await openEngine(async (order) =>
    (await order.retryAt(tries, engine.clock.now() + 5_000)) ? arrived : stopped,
  )
  await engine.add([{ id, coalesceMs: 0 }])
  await engine.append()
  const run = await start(engine)
  await until(
    () => engine.clock.timerCount,
    (count) => count === 1,
  )
  run.stop()
  await run.ended
  expect(await stored(engine)).toMatchObject({ leaseOwner: null, dueAt: engine.clock.now(), cursorLogId: 0 })
  expect(await listDeliveries(engine.db, id, '', 10)).toMatchObject([{ outcome: 'pending', attempts: tries }])
  expect(run.waiting).toEqual([true, false])
})

test('a subscription that degrades sends no further event', async () => {
  const sent: number[] = []
  await using engine = await openEngine(async ({ emission }) => {
    sent.push(emission.logId)
    return { outcome: 'rejected', reason: 'http-410', attempts: [] }
  })
  await engine.add([{ id, coalesceMs: 0 }])
  await engine.append()
  await engine.append()
  const run = await start(engine)
  expect(await run.ended).toBeUndefined()
  expect(sent).toEqual([1])
  expect(await stored(engine)).toMatchObject({
    status: 'degraded',
    reason: 'http-410',
    leaseOwner: null,
    cursorLogId: 0,
  })
})
