import { expect, test } from 'vitest'
import { ulidFloor } from '../../src/lib/ids.ts'
import { LogNotifier } from '../../src/log/log-notifier.ts'
import { silentLogger } from '../../src/logger/logger.ts'
import { createEventWriter } from '../../src/wakes/commit/event-writer.ts'
import { singleEmission } from '../../src/wakes/content/emission.ts'
import { listDeliveries, saveDelivery } from '../../src/wakes/store/delivery-store.ts'
import { insertHeld, listHeld } from '../../src/wakes/store/held-store.ts'
import { KeptCounts } from '../../src/wakes/store/kept-counts.ts'
import { keepEmission } from '../../src/wakes/store/unfinished-store.ts'
import { trimSweep } from '../../src/wakes/trim-kept.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway } from '../support/gateway.ts'
import { besideStore } from '../support/store.ts'
import { until } from '../support/until.ts'
import { advanceUntil } from './acts.ts'
import { messageSent, noon, subscriptionOf } from './builders.ts'
import { arrived, type Engine, openEngine } from './engine.ts'

const id = 'WAKE_SUB:1'
const { signal } = new AbortController()
const bounds = { wake: { held: 20, deliveries: 10 }, push: { held: 0, deliveries: 4 } }
const sweepOf = (engine: Engine, kept = new KeptCounts()) =>
  trimSweep({ db: engine.db, log: silentLogger, kept }, bounds)

test('the newest held events of each subscription stay, however many its agent has', async () => {
  await using engine = await openEngine(async () => arrived)
  const ids = [1, 2, 3, 4, 5, 6, 7, 8].map((n) => `WAKE_SUB:${n}`)
  await engine.add(ids.map((one) => ({ id: one, harnessTarget: 'none' as const })))
  const logIds: number[] = []
  for (let n = 0; n < 30; n++) logIds.push(await engine.append())
  expect(await heldOf(engine, ids[0]!)).toEqual(logIds)
  await sweepOf(engine).run(signal)
  for (const one of ids) expect(await heldOf(engine, one)).toEqual(logIds.slice(-20))
})

test('after the first pass only those are looked at that got a part of what they keep', async () => {
  await using engine = await openEngine(async () => arrived)
  await engine.add([{ id, harnessTarget: 'none' }])
  const kept = new KeptCounts()
  const sweep = sweepOf(engine, kept)
  await sweep.run(signal)
  const logIds: number[] = []
  for (let n = 0; n < 22; n++) logIds.push(await engine.append())
  kept.add(id)
  await sweep.run(signal)
  expect(await heldOf(engine, id)).toHaveLength(22)
  kept.add(id)
  kept.add(id)
  await sweep.run(signal)
  expect(await heldOf(engine, id)).toEqual(logIds.slice(-20))
})

// D6
test('a held event that a run has still to pass stays held', async () => {
  await using engine = await openEngine(async () => arrived)
  await engine.add([{ id, harnessTarget: 'bridge-daemon', cursorLogId: 10 }])
  await engine.db.transaction((tx) =>
    insertHeld(
      tx,
      [...Array(40).keys()].map((n) => heldEvent(n + 1)),
    ),
  )
  await besideStore(engine.dataDir, `update subscription set due_at = ${noon}`)
  await sweepOf(engine).run(signal)
  expect(await keptLogIds(engine)).toEqual([...Array(30).keys()].map((n) => n + 11))
  await besideStore(engine.dataDir, 'update subscription set cursor_log_id = 35')
  await sweepOf(engine).run(signal)
  expect(await keptLogIds(engine)).toEqual([...Array(20).keys()].map((n) => n + 21))
})

test('what an open digest has still to read stays', async () => {
  await using engine = await openEngine(async () => arrived)
  await engine.add([{ id, harnessTarget: 'bridge-daemon' }])
  await engine.db.transaction((tx) =>
    insertHeld(
      tx,
      [...Array(30).keys()].map((n) => heldEvent(n + 1)),
    ),
  )
  await besideStore(engine.dataDir, 'update held_wake set released = 1 where log_id <= 5')
  await besideStore(engine.dataDir, 'update subscription set announces_held = 1')
  await sweepOf(engine).run(signal)
  expect(await keptLogIds(engine)).toEqual([1, 2, 3, 4, 5, ...[...Array(20).keys()].map((n) => n + 11)])
})

test('the newest finished deliveries stay, and all that are not finished; push configs take none from a webhook', async () => {
  await using engine = await openEngine(async () => arrived)
  const pushes = Array.from({ length: 30 }, (_, n) => ({ id: `PUSH:${n}` }))
  await engine.add([{ id }, ...pushes])
  await besideStore(engine.dataDir, "update subscription set kind = 'push' where id like 'PUSH:%'")
  const emission = (of: string, n: number) => ({
    ...singleEmission(subscriptionOf({ id: of }), messageSent(1), null, noon),
    eventId: `${ulidFloor(noon).slice(0, 10)}${String(n).padStart(16, '0')}`,
  })
  await engine.db.transaction(async (tx) => {
    await saveDelivery(tx, { subscriptionId: id, emission: emission(id, 1), attempts: [] }, 'pending', noon + 1_000)
    await keepEmission(tx, id, { emission: emission(id, 2), cursorLogId: 1 }, [])
    for (const one of [id, 'PUSH:1']) {
      for (let n = 3; n <= 40; n++) {
        const delivery = { subscriptionId: one, emission: emission(one, n), attempts: [] }
        await saveDelivery(tx, delivery, n % 2 ? 'failed' : 'delivered')
      }
    }
  })
  await sweepOf(engine).run(signal)
  const left = async (of: string) => {
    const deliveries = await listDeliveries(engine.db, of, '', 100)
    return deliveries.map(({ eventId }) => Number(eventId.slice(10))).reverse()
  }
  expect(await left(id)).toEqual([1, 2, ...[...Array(10).keys()].map((n) => n + 31)])
  expect(await left('PUSH:1')).toEqual([37, 38, 39, 40])
})

test('what an earlier gateway has kept too much of goes soon after the start', async () => {
  const clock = new FakeClock(noon)
  await using gateway = await startGateway({ overrides: { clock } })
  const donna = await gateway.addAgent('donna')
  const input = { trigger: 'SENT_TO_ME', harnessTarget: 'none' }
  const { body } = await gateway.call('POST', '/v1/wake-subscriptions', input, donna)
  await besideStore(
    gateway.dataDir,
    `insert into held_wake (subscription_id, log_id, project_id, action, reason, created_at)
    with recursive n(i) as (select 1 union all select i + 1 from n where i < ${5_000 + 700})
    select '${body.subscriptionId}', -i, 'default', 'store_only', 'no_target', ${noon} from n`,
  )
  const count = async () =>
    Number((await besideStore(gateway.dataDir, 'select count(*) as kept from held_wake'))[0]!.kept)
  await advanceUntil(clock, 10_000, count, (kept) => kept === 5_000)
})

test('held events and deliveries are counted for their subscriptions', async () => {
  await using engine = await openEngine(async () => arrived)
  await engine.add([{ id }, { ...alone(), target: { url: '' } }])
  const kept = new KeptCounts()
  const { append } = createEventWriter(new LogNotifier(), kept)
  const event = { type: 'message.sent', actor: '@lola', audience: ['agent_alone'], data: messageSent(0).data } as const
  await engine.db.transaction((tx) => append(tx, 'default', [event, event]))
  expect(kept.of('WAKE_SUB:alone')).toBe(2)
  const started = engine.start()
  await engine.append()
  await until(
    () => started.kept.of(id),
    (count) => count === 1,
  )
  await started.stop()
})

const alone = () => ({
  id: 'WAKE_SUB:alone',
  agentId: 'agent_alone',
  audience: 'agent_alone',
  harnessTarget: 'none' as const,
})

const heldEvent = (logId: number) => ({
  subscriptionId: id,
  event: { projectId: 'default', logId },
  decision: { action: 'hold_for_next_turn', reason: 'user_typing' } as const,
  presence: 'userTyping' as const,
})

async function heldOf(engine: Engine, subscriptionId: string): Promise<number[]> {
  const held = await listHeld(engine.db, subscriptionId, { from: 0, before: Number.MAX_SAFE_INTEGER, limit: 1_000 })
  return held.map(({ event }) => event.logId).reverse()
}

async function keptLogIds(engine: Engine): Promise<number[]> {
  const rows = await besideStore(engine.dataDir, 'select log_id as id from held_wake order by log_id')
  return rows.map((row) => Number(row.id))
}
