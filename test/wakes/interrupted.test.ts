import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/lib/json.ts'
import { operator } from '../../src/registry/callers/caller.ts'
import { findSubscription } from '../../src/registry/subscriptions/subscription-store.ts'
import type { Database } from '../../src/storage/database.ts'
import { updateSubscription } from '../../src/subscriptions/update.ts'
import type { DeliveryOrder, DeliveryResult } from '../../src/wakes/channel.ts'
import { createEventWriter } from '../../src/wakes/commit/event-writer.ts'
import { Dispatcher } from '../../src/wakes/run/dispatcher.ts'
import { Recorder } from '../../src/wakes/run/recorder.ts'
import { startGateway } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import { deliveriesOf, patch, resync, stateOf } from './acts.ts'
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

/** A gateway whose receiver has the first wake, and answers it when the test says. */
async function startLate(coalesceWindow: number) {
  let answer = (): void => {}
  const receiver = await startReceiver((_, res, nth) => {
    if (nth > 1) res.end()
    else answer = () => res.end()
  })
  const gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const metadata = { coalesceWindow }
  const fields = { trigger: 'SENT_TO_ME', harnessTargetMetadata: metadata }
  const { id } = await gateway.subscribe(donna, receiver.url, fields)
  const send = (subject: string) => gateway.call('POST', '/v1/messages', { to: '@donna', subject })
  await send('first')
  await receiver.waitFor(1)
  const reader = { ...donna, key: gateway.adminKey }
  return {
    receiver,
    send,
    answer: () => answer(),
    change: (fields: JsonObject) => patch(gateway, reader, id, fields),
    resync: (logId: number) => resync(gateway, reader, id, logId),
    delivered: (count: number) =>
      until(
        () => deliveriesOf(gateway, reader, id),
        (all) => all.filter(({ outcome }) => outcome === 'delivered').length === count,
      ),
    state: () => stateOf(gateway, reader, id),
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]()
      await receiver[Symbol.asyncDispose]()
    },
  }
}

describe.each([0, 1])('a receiver that answers late, with a window of %i s', (coalesceWindow) => {
  test.each(['paused', 'active again'])(
    'has its wake once, although it answers when the subscription is %s',
    async (when) => {
      await using late = await startLate(coalesceWindow)
      await late.change({ status: 'paused' })
      if (when === 'active again') await late.change({ status: 'active' })
      late.answer()
      await late.delivered(1)
      if (when === 'paused') await late.change({ status: 'active' })
      await late.send('second')
      await late.delivered(2)
      const [first, second] = late.receiver.wakes.map(({ body }) => body)
      expect(second).toMatchObject({ prevLogId: first.logId })
      expect(JSON.stringify(second.payload)).not.toContain('first')
      expect(late.receiver.wakes).toHaveLength(2)
    },
  )

  test('has it again if it asks for that meanwhile', async () => {
    await using late = await startLate(coalesceWindow)
    const { logId } = late.receiver.wakes[0]!.body
    await late.resync(logId - 1)
    late.answer()
    await late.delivered(2)
    expect(late.receiver.wakes.map(({ body }) => body.logId)).toEqual([logId, logId])
  })
})
