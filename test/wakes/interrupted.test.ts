import { expect, test } from 'vitest'
import { operator } from '../../src/registry/callers/caller.ts'
import { findSubscription } from '../../src/registry/subscriptions/subscription-store.ts'
import type { Database } from '../../src/storage/database.ts'
import { updateSubscription } from '../../src/subscriptions/update.ts'
import type { DeliveryOrder, DeliveryResult } from '../../src/wakes/channel.ts'
import { createEventWriter } from '../../src/wakes/commit/event-writer.ts'
import { Dispatcher } from '../../src/wakes/run/dispatcher.ts'
import { Recorder } from '../../src/wakes/run/recorder.ts'
import { until } from '../support/until.ts'
import { arrived, openEngine } from './engine.ts'

/** A store whose transactions begin when they are let. */
function held(db: Database) {
  const waiting: (() => void)[] = []
  let isOpen = false
  const transaction: Database['transaction'] = async (work) => {
    if (!isOpen) await new Promise<void>((resolve) => waiting.push(resolve))
    return db.transaction(work)
  }
  return {
    store: { transaction } as Database,
    waiting,
    letOne: () => waiting.shift()!(),
    letAll() {
      isOpen = true
      for (const go of waiting.splice(0)) go()
    },
  }
}

test('a wake that arrived before a change ended the lease is not sent again, although its record is late', async () => {
  const orders: DeliveryOrder[] = []
  const answers: (() => void)[] = []
  const deliver = (order: DeliveryOrder): Promise<DeliveryResult> => {
    orders.push(order)
    return new Promise((resolve) => answers.push(() => resolve(arrived)))
  }
  await using engine = await openEngine(deliver)
  const { context, db, subscriptions } = engine
  const records = held(db)
  const recorder = new Recorder(records.store, createEventWriter(context.notifier))
  const dispatcher = new Dispatcher({ ...context, recorder })
  await using _ = {
    async [Symbol.asyncDispose]() {
      records.letAll()
      for (const answer of answers) answer()
      await dispatcher.stop()
    },
  }
  const id = 'WAKE_SUB:1'
  const read = async () => (await findSubscription(db, id))!
  const requested = (count: number) =>
    until(
      () => orders.length,
      (length) => length === count,
    )
  await engine.add([{ id, coalesceMs: 0 }])
  for (let count = 1; count <= 5; count++) await engine.append()
  dispatcher.start()
  await requested(1)
  const owner = (await read()).leaseOwner
  for (let count = 1; count <= 4; count++) {
    answers[count - 1]!()
    await requested(count + 1)
  }
  // The first record waits for the store, the next three wait after it, and the fifth event is in flight.
  await until(
    () => records.waiting.length,
    (length) => length === 1,
  )
  await updateSubscription(subscriptions, operator, id, { rotateSigningKey: true })
  dispatcher.notifyDue()
  await until(read, ({ leaseOwner }) => leaseOwner !== null && leaseOwner !== owner)
  records.letOne()
  await until(
    () => records.waiting.length,
    (length) => length === 1,
  )
  answers[4]!()
  await new Promise(setImmediate)
  records.letAll()
  const { cursorLogId } = await until(read, ({ dueAt }) => dueAt === null)
  expect(orders.map(({ emission }) => emission.logId)).toEqual([1, 2, 3, 4, 5])
  expect(cursorLogId).toBeGreaterThanOrEqual(5)
})
