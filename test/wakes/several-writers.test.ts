import fc from 'fast-check'
import { expect, test } from 'vitest'
import { logBounds } from '../../src/log/event-store.ts'
import { LogNotifier } from '../../src/log/log-notifier.ts'
import { defaultProject } from '../../src/registry/projects/project-store.ts'
import { findSubscription } from '../../src/registry/subscriptions/subscription-store.ts'
import type { DeliveryOrder, DeliveryResult } from '../../src/wakes/channel.ts'
import { createEventWriter, type EventWriter } from '../../src/wakes/commit/event-writer.ts'
import { until } from '../support/until.ts'
import { messageSent } from './builders.ts'
import { arrived, openEngine } from './engine.ts'

const subscription = { id: 'WAKE_SUB:1', coalesceMs: 0 }

/** A gateway that sends, and another one that only appends, without notifications. */
async function openTwo() {
  const orders: DeliveryOrder[] = []
  const letGo: (() => void)[] = []
  const deliver = (order: DeliveryOrder): Promise<DeliveryResult> => {
    orders.push(order)
    return new Promise((resolve) => letGo.push(() => resolve(arrived)))
  }
  const engine = await openEngine(deliver)
  await engine.add([subscription])
  const gateway = engine.start()
  const elsewhere = createEventWriter(new LogNotifier())
  const { type, actor, data } = messageSent(0)
  const appendBy =
    (writer: Pick<EventWriter, 'append'>) =>
    async (...agents: readonly string[]): Promise<void> => {
      const audiences = agents.length > 0 ? agents : ['agent_donna']
      const events = audiences.map((agent) => ({ type, actor, data, audience: [agent] }))
      await engine.db.transaction((tx) => writer.append(tx, defaultProject, events))
    }
  const read = async () => (await findSubscription(engine.db, subscription.id))!
  const isIdle = ({ dueAt }: { dueAt: number | null }): boolean => dueAt === null
  // It may be due anyway: the other gateway sends no notification.
  const isAtRest = ({ leaseOwner }: { leaseOwner: string | null }): boolean => leaseOwner === null
  return {
    orders,
    append: { here: appendBy(gateway), elsewhere: appendBy(elsewhere) },
    /** Answers the receiver's requests, after this many have arrived. */
    async answer(count: number): Promise<void> {
      await until(
        () => orders.length,
        (calls) => calls >= count,
      )
      letGo[count - 1]!()
    },
    look: () => gateway.notifyDue(),
    head: async () => (await logBounds(engine.db, defaultProject)).head,
    idle: () => until(read, isIdle),
    /** Resolves when the runs have processed their answers. */
    settled: (answered: number) =>
      until(
        async () => orders.length > answered || isAtRest(await read()),
        (settled) => settled,
      ),
    async [Symbol.asyncDispose]() {
      for (const go of letGo) go()
      await gateway.stop()
      await engine[Symbol.asyncDispose]()
    },
  }
}

const logIds = (orders: readonly DeliveryOrder[]): number[] => orders.map(({ emission }) => emission.logId)

test('an event that is appended during a wake is sent after it, under the same lease', async () => {
  await using world = await openTwo()
  await world.append.here()
  await world.append.here()
  await world.answer(1)
  await world.answer(2)
  await world.idle()
  expect(logIds(world.orders)).toEqual([1, 2])
  expect(world.orders[1]!.subscription.leaseOwner).toBe(world.orders[0]!.subscription.leaseOwner)
})

test('an event of another gateway without a notification is sent after it at once', async () => {
  await using world = await openTwo()
  await world.append.here()
  await world.append.elsewhere()
  await world.append.here()
  await world.append.elsewhere()
  for (let count = 1; count <= 4; count++) await world.answer(count)
  const { cursorLogId } = await world.idle()
  expect(logIds(world.orders)).toEqual([1, 2, 3, 4])
  expect(cursorLogId).toBe(4)
})

test('the last event of another gateway does not end the run', async () => {
  await using world = await openTwo()
  await world.append.here()
  await world.append.elsewhere()
  await world.answer(1)
  await world.answer(2)
  await world.idle()
  expect(logIds(world.orders)).toEqual([1, 2])
})

test('a distant event after many events of other agents is found too', async () => {
  await using world = await openTwo()
  const others = Array.from({ length: 300 }, () => 'agent_lola')
  await world.append.here()
  await world.append.elsewhere(
    ...others,
    'agent_donna',
    ...others,
    'agent_donna',
    'agent_donna',
    ...others,
    'agent_donna',
  )
  for (let count = 1; count <= 5; count++) await world.answer(count)
  await world.idle()
  expect(logIds(world.orders)).toEqual([1, 302, 603, 604, 905])
})

test('for any appends and answer times, everything is sent once, in order', async () => {
  const act = fc.constantFrom('here', 'elsewhere', 'answer', 'settle', 'both')
  await fc.assert(
    fc.asyncProperty(fc.array(act, { maxLength: 12 }), async (acts) => {
      await using world = await openTwo()
      // A first one from here, so that there is a run to find the others.
      await world.append.here()
      let answered = 0
      for (const one of acts) {
        if (one === 'settle') await world.settled(answered)
        else if (one === 'both') await Promise.all([world.append.here(), world.append.elsewhere()])
        else if (one !== 'answer') await world.append[one]()
        else if (answered < world.orders.length) await world.answer(++answered)
      }
      // A subscription that another gateway made due while nothing ran here is found by the next sweep.
      world.look()
      const head = await world.head()
      while (answered < head) await world.answer(++answered)
      await world.idle()
      expect(logIds(world.orders)).toEqual(Array.from({ length: head }, (_, index) => index + 1))
    }),
    { numRuns: 40 },
  )
})
