import { expect, test, vi } from 'vitest'
import { saveHeartbeat } from '../../src/cluster/gateway-store.ts'
import { Membership } from '../../src/cluster/membership.ts'
import { SweepLeases } from '../../src/cluster/sweep-leases.ts'
import type { Clock } from '../../src/lib/clock.ts'
import { type Logger, silentLogger } from '../../src/logger/logger.ts'
import type { Database } from '../../src/storage/database.ts'
import { requeueLeasesOf } from '../../src/wakes/store/gateway-leases.ts'
import { leaseDue, renewLease } from '../../src/wakes/store/lease-store.ts'
import { until } from '../support/until.ts'
import { openEngine } from '../wakes/engine.ts'

const noDelivery = () => Promise.reject(new Error('Nothing is sent here.'))

const sure = async () => true

function joined(engine: { db: Database; clock: Clock; storeClock?: Clock; log?: Logger }) {
  const due: string[] = []
  const gateways = new Membership({
    log: silentLogger,
    storeClock: engine.clock,
    ...engine,
    id: 'mine',
    requeueLeasesOf,
    due: () => due.push('due'),
  })
  return { gateways, due }
}

test('the leases of a gateway are released after twenty seconds without a heartbeat, and not before', async () => {
  await using engine = await openEngine(noDelivery)
  await engine.add([{ coalesceMs: 0 }])
  await engine.append()
  await saveHeartbeat(engine.db, 'other', engine.clock, engine.clock)
  const [claimed] = await leaseDue(engine.db, 'other.1', 10)
  const { gateways, due } = joined(engine)
  await using _ = gateways
  await gateways.start()
  for (let seconds = 0; seconds < 18; seconds += 3) {
    engine.clock.advance(3_000)
    await until(
      () => engine.clock.timerCount,
      (count) => count > 0,
    )
  }
  expect(due).toEqual([])
  engine.clock.advance(3_000)
  await until(
    () => due.length,
    (count) => count === 1,
  )
  const [again] = await leaseDue(engine.db, 'mine.1', 10)
  expect(again!.id).toBe(claimed!.id)
  // The one that was only held up finds its claim gone.
  expect(
    await engine.db.transaction((tx) => renewLease(tx, { subscriptionId: claimed!.id, owner: 'other.1' }, 0)),
  ).toBe(false)
})

test('a gateway whose name has that of a dead one as a prefix keeps its leases', async () => {
  await using engine = await openEngine(noDelivery)
  await engine.add([{ coalesceMs: 0 }])
  await engine.append()
  await saveHeartbeat(engine.db, 'gone', engine.clock, engine.clock)
  engine.clock.advance(60_000)
  expect(await leaseDue(engine.db, 'gone2.1', 10)).toHaveLength(1)
  const { gateways, due } = joined(engine)
  await using _ = gateways
  await gateways.start()
  expect(due).toEqual([])
})

test('a gateway that was delayed is not sure of its leases until its next heartbeat', async () => {
  await using engine = await openEngine(noDelivery)
  const { gateways } = joined(engine)
  await using _ = gateways
  await gateways.start()
  expect(gateways.areLeasesSafe()).toBe(true)
  engine.clock.advance(9_000)
  expect(gateways.areLeasesSafe()).toBe(false)
  await until(() => gateways.areLeasesSafe(), Boolean)
})

test('a clock that was set leaves a gateway unsure too, whichever way', async () => {
  await using engine = await openEngine(noDelivery)
  const { gateways } = joined(engine)
  await using _ = gateways
  expect(gateways.areLeasesSafe()).toBe(true)
  vi.spyOn(engine.clock, 'now').mockReturnValue(engine.clock.now() - 3_600_000)
  expect(gateways.areLeasesSafe()).toBe(false)
})

test('one of many holds a sweep lease, and loses it when it stops asking', async () => {
  await using engine = await openEngine(noDelivery)
  const [a, b] = ['a', 'b'].map((id) => new SweepLeases(engine.db, id, engine.clock, sure))
  expect([await a!.holds('sweep'), await b!.holds('sweep')]).toEqual([true, false])
  expect([await a!.holds('other'), await b!.holds('other')]).toEqual([true, false])
  for (let i = 0; i < 10; i++) {
    engine.clock.advance(10_000)
    expect([await a!.holds('sweep'), await b!.holds('sweep')]).toEqual([true, false])
  }
  engine.clock.advance(21_000)
  expect([await b!.holds('sweep'), await a!.holds('sweep')]).toEqual([true, false])
})
