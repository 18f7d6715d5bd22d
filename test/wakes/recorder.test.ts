import { expect, test } from 'vitest'
import { findSubscription } from '../../src/registry/subscriptions/subscription-store.ts'
import { singleEmission } from '../../src/wakes/content/emission.ts'
import { listDeliveries } from '../../src/wakes/store/delivery-store.ts'
import { Lease } from '../../src/wakes/store/lease.ts'
import { leaseDue } from '../../src/wakes/store/lease-store.ts'
import { besideStore, refuseInserts } from '../support/store.ts'
import { until } from '../support/until.ts'
import { messageSent } from './builders.ts'
import { arrived, type Engine, openEngine } from './engine.ts'

const attempts = [{ at: '2026-04-26T10:00:00.000Z', status: 200, durationMs: 1, error: null }]

async function leaseTwo(engine: Engine): Promise<{ leases: Lease[]; sendOne: (lease: Lease) => void }> {
  await engine.add([{ id: 'WAKE_SUB:0' }, { id: 'WAKE_SUB:1' }])
  await engine.append()
  const subscriptions = await leaseDue(engine.db, 'me', 2)
  const leases = subscriptions.map((subscription) => new Lease(subscription, 'me', engine.clock.now()))
  const sendOne = (lease: Lease) => {
    const logId = lease.progress.cursorLogId + 1
    lease.advance({ ...lease.progress, cursorLogId: logId, lastEmittedLogId: logId })
    const subscription = subscriptions.find(({ id }) => id === lease.subscriptionId)!
    engine.context.recorder.arrived(
      lease,
      singleEmission(subscription, messageSent(logId), null, 0),
      attempts,
      'delivered',
    )
  }
  return { leases, sendOne }
}

test('a lease resolves after its own records, however busy the others are', async () => {
  await using engine = await openEngine(async () => arrived)
  const { recorder } = engine.context
  const { leases, sendOne } = await leaseTwo(engine)
  const [one, other] = leases as [Lease, Lease]
  let busy = true
  const load = (async () => {
    while (busy) {
      sendOne(other)
      await new Promise(setImmediate)
    }
  })()
  sendOne(one)
  await recorder.settled(one)
  expect((await findSubscription(engine.db, one.subscriptionId))!.cursorLogId).toBe(one.progress.cursorLogId)
  busy = false
  await load
  await recorder.settled(other)
  expect(recorder.backlog(other)).toBe(0)
})

test('a failed write is reported to its run, and its records are written later', async () => {
  await using engine = await openEngine(async () => arrived)
  const { recorder } = engine.context
  const { leases, sendOne } = await leaseTwo(engine)
  const [one, other] = leases as [Lease, Lease]
  const heal = await refuseInserts(engine.dataDir, 'delivery')
  sendOne(one)
  sendOne(one)
  await expect(recorder.settled(one)).rejects.toThrow('refused')
  expect(recorder.backlog(one)).toBe(2)
  await recorder.settled(other)
  await heal()

  sendOne(other)
  await recorder.settled(other)
  await until(
    () => recorder.backlog(one),
    (backlog) => backlog === 0,
  )
  expect((await findSubscription(engine.db, one.subscriptionId))!.cursorLogId).toBe(one.progress.cursorLogId)
  expect(await listDeliveries(engine.db, one.subscriptionId, '', 10)).toHaveLength(2)
})

test.each([
  ['moves the cursor', 0, 1],
  ['moves no cursor after a resync', 1, 0],
])('a record of a lost lease %s, and one of a removed subscription is not stored', async (_, resynced, moved) => {
  await using engine = await openEngine(async () => arrived)
  const { recorder } = engine.context
  const { leases, sendOne } = await leaseTwo(engine)
  const [one, other] = leases as [Lease, Lease]
  const { dataDir } = engine
  const change = 'update subscription set lease_owner = ?, resynced_generation = ? where id = ?'
  await besideStore(dataDir, change, 'another', resynced, one.subscriptionId)
  await besideStore(dataDir, 'delete from subscription where id = ?', other.subscriptionId)
  const before = (await findSubscription(engine.db, one.subscriptionId))!.cursorLogId
  sendOne(one)
  sendOne(other)
  await Promise.all([recorder.settled(one), recorder.settled(other)])
  expect([one.isLost, other.isLost]).toEqual([true, true])
  expect((await findSubscription(engine.db, one.subscriptionId))!.cursorLogId).toBe(before + moved)
  expect(await listDeliveries(engine.db, one.subscriptionId, '', 10)).toHaveLength(1)
  expect(await listDeliveries(engine.db, other.subscriptionId, '', 10)).toHaveLength(0)
})
