import { expect, test } from 'vitest'
import { LogNotifier } from '../../src/log/log-notifier.ts'
import { defaultProject } from '../../src/registry/projects/project-store.ts'
import type { WakeSubscription } from '../../src/registry/subscriptions/subscription.ts'
import { findSubscription } from '../../src/registry/subscriptions/subscription-store.ts'
import { type BeforeCommit, Collision, type Database } from '../../src/storage/database.ts'
import { createEventWriter } from '../../src/wakes/commit/event-writer.ts'
import { Recorder } from '../../src/wakes/run/recorder.ts'
import { Lease } from '../../src/wakes/store/lease.ts'
import { leaseDue } from '../../src/wakes/store/lease-store.ts'
import { insertReplays } from '../../src/wakes/store/replay-store.ts'
import { besideStore } from '../support/store.ts'
import { messageSent } from './builders.ts'
import { arrived, type Engine, openEngine } from './engine.ts'

const id = 'WAKE_SUB:1'

/** Leases a subscription that is due with one event. */
async function leaseOne(
  engine: Engine,
  fields: Partial<Pick<WakeSubscription, 'coalesceMs' | 'target'>> = {},
  sinceMs = 0,
) {
  await engine.add([{ id, coalesceMs: 0, ...fields }])
  await engine.append()
  engine.clock.advance(fields.coalesceMs ?? 0)
  const [subscription] = await leaseDue(engine.db, 'me', 1)
  return { subscription: subscription!, lease: new Lease(subscription!, 'me', engine.clock.now() - sinceMs) }
}

/** A gateway on the store of an engine, with its cache of recent events or with one of its own. */
function recorderOf(engine: Engine, hasPeers = () => false, notifier = engine.context.notifier, db = engine.db) {
  const yielded: number[] = []
  const writer = createEventWriter(notifier)
  writer.connect({
    notifyDue() {},
    offer: () => undefined,
    begin() {},
    hasPeers,
    notifyYielded: () => yielded.push(engine.clock.now()),
  })
  return { recorder: new Recorder(db, writer), writer, yielded }
}

function passFirst(lease: Lease): void {
  lease.advance({ ...lease.progress, cursorLogId: 1, lastEmittedLogId: 1 })
}

const stored = async (engine: Engine) => (await findSubscription(engine.db, id))!

test('a run with nothing left is released, and its subscription is idle', async () => {
  await using engine = await openEngine(async () => arrived)
  const { subscription, lease } = await leaseOne(engine)
  passFirst(lease)
  expect(await recorderOf(engine).recorder.end(lease, subscription)).toEqual({ end: 'released', dueAt: null })
  expect(await stored(engine)).toMatchObject({ leaseOwner: null, dueAt: null, cursorLogId: 1, lastEmittedLogId: 1 })
})

test('a run during which a replay was requested is released, due at once', async () => {
  await using engine = await openEngine(async () => arrived)
  const { subscription, lease } = await leaseOne(engine)
  passFirst(lease)
  await engine.db.transaction((tx) => insertReplays(tx, id, [1]))
  const dueAt = engine.clock.now()
  expect(await recorderOf(engine).recorder.end(lease, subscription)).toEqual({ end: 'released', dueAt })
  expect(await stored(engine)).toMatchObject({ leaseOwner: null, dueAt })
})

test('a run that sends digests is released, due when the window of the next event closes', async () => {
  await using engine = await openEngine(async () => arrived)
  const { subscription, lease } = await leaseOne(engine, {
    coalesceMs: 10_000,
    target: { url: 'http://127.0.0.1:9/', coalesceMode: 'window' },
  })
  passFirst(lease)
  await engine.append()
  const dueAt = engine.clock.now() + 10_000
  expect(await recorderOf(engine).recorder.end(lease, subscription)).toEqual({ end: 'released', dueAt })
  expect(await stored(engine)).toMatchObject({ leaseOwner: null, dueAt, cursorLogId: 1 })
})

test('a run for which the cache has more continues under its lease', async () => {
  await using engine = await openEngine(async () => arrived)
  const { subscription, lease } = await leaseOne(engine)
  passFirst(lease)
  await engine.append()
  const end = await recorderOf(engine).recorder.end(lease, subscription)
  expect(end).toEqual({ end: 'continued', events: undefined, hasMore: false })
  expect(await stored(engine)).toMatchObject({ leaseOwner: 'me', cursorLogId: 1 })
})

test('a run for which only the log has more continues with what was read', async () => {
  await using engine = await openEngine(async () => arrived)
  const { subscription, lease } = await leaseOne(engine)
  passFirst(lease)
  await engine.append()
  await engine.append()
  const { recorder } = recorderOf(engine, () => false, new LogNotifier())
  const end = await recorder.end(lease, subscription)
  expect(end).toMatchObject({ end: 'continued', events: [{ logId: 2 }, { logId: 3 }], hasMore: false })
})

test('a run continues when an event is appended in the transaction that ends it', async () => {
  await using engine = await openEngine(async () => arrived)
  const { subscription, lease } = await leaseOne(engine)
  passFirst(lease)
  const { writer } = recorderOf(engine)
  const ends = await engine.db.transaction(async (tx) => {
    const { type, actor, data } = messageSent(0)
    await writer.append(tx, defaultProject, [{ type, actor, data, audience: [subscription.audience] }])
    return writer.endRuns(tx, [{ subscription, lease }])
  })
  expect(ends.get(lease)).toMatchObject({ end: 'continued' })
  expect(await stored(engine)).toMatchObject({ leaseOwner: 'me', cursorLogId: 1 })
})

test('a run of two seconds is yielded when other gateways share the work', async () => {
  await using engine = await openEngine(async () => arrived)
  const { subscription, lease } = await leaseOne(engine, {}, 2_000)
  const { recorder, yielded } = recorderOf(engine, () => true)
  expect(await recorder.end(lease, subscription)).toEqual({ end: 'yielded' })
  expect(yielded).toHaveLength(1)
  expect(await stored(engine)).toMatchObject({ leaseOwner: null, dueAt: engine.clock.now(), cursorLogId: 0 })
})

test.each([
  ['released', true, 0],
  ['continued', false, 0],
  ['yielded', false, 2_000],
])('a run that would be %s ends as lost when another lease has its subscription', async (_, isDone, sinceMs) => {
  await using engine = await openEngine(async () => arrived)
  const { subscription, lease } = await leaseOne(engine, {}, sinceMs)
  if (isDone) passFirst(lease)
  await besideStore(engine.dataDir, 'update subscription set lease_owner = ? where id = ?', 'another', id)
  const { recorder } = recorderOf(engine, () => true)
  expect(await recorder.end(lease, subscription)).toEqual({ end: 'lost' })
  expect(lease.isLost).toBe(true)
  expect(await stored(engine)).toMatchObject({ leaseOwner: 'another', cursorLogId: 0 })
})

test('a run ends as the committed transaction decides, not as a rolled back one did', async () => {
  await using engine = await openEngine(async () => arrived)
  const { subscription, lease } = await leaseOne(engine, {}, 2_000)
  let isFirst = true
  const failOnce: BeforeCommit<null> = async () => {
    if (isFirst) {
      isFirst = false
      throw new Collision()
    }
    return { answered: Promise.resolve() }
  }
  // A writer in the same group, whose own work at the end of the transaction comes after the run has ended in it.
  const transaction: Database['transaction'] = (work) => {
    const ended = engine.db.transaction(work)
    engine.db.transaction(async (tx) => tx.beforeCommit(failOnce, null)).catch(() => {})
    return ended
  }
  const looked: boolean[] = []
  const hasPeers = (): boolean => {
    looked.push(looked.length === 0)
    return looked.at(-1)!
  }
  const { recorder, yielded } = recorderOf(engine, hasPeers, engine.context.notifier, { transaction } as Database)
  // PostgreSQL runs the writers of a group again, SQLite refuses them.
  const end = await recorder.end(lease, subscription).catch(() => recorder.end(lease, subscription))
  expect(looked).toEqual([true, false])
  expect(end).toMatchObject({ end: 'continued' })
  expect(yielded).toEqual([])
  expect(lease.isLost).toBe(false)
  expect(await stored(engine)).toMatchObject({ leaseOwner: 'me', cursorLogId: 0 })
})
