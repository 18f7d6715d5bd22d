import { expect, test, vi } from 'vitest'
import { seeGateway } from '../../src/cluster/gateway-store.ts'
import { Gateways } from '../../src/cluster/membership.ts'
import { Turns } from '../../src/cluster/sweep-leases.ts'
import { silentLogger } from '../../src/logger.ts'
import type { Database } from '../../src/storage/database.ts'
import { claimDue, renewLease } from '../../src/wakes/store/lease-store.ts'
import { until } from '../support/until.ts'
import { openEngine } from '../wakes/engine.ts'

const noDelivery = () => Promise.reject(new Error('Nothing is sent here.'))

function joined(engine: { db: Database; clock: { now(): number; after(ms: number, work: () => void): () => void } }) {
  const due: string[] = []
  const gateways = new Gateways({ ...engine, log: silentLogger, id: 'mine', due: () => due.push('due') })
  return { gateways, due }
}

test('what a gateway had claimed is free once it has not been seen for twenty seconds, and not before', async () => {
  await using engine = await openEngine(noDelivery)
  await engine.add([{ coalesceMs: 0 }])
  await engine.append()
  await seeGateway(engine.db, 'other')
  const [claimed] = await claimDue(engine.db, 'other.1', 10)
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
  const [again] = await claimDue(engine.db, 'mine.1', 10)
  expect(again!.id).toBe(claimed!.id)
  // The one that was only held up finds its claim gone.
  expect(await engine.db.transaction((tx) => renewLease(tx, claimed!.id, 'other.1', 0))).toBe(false)
})

test('a gateway whose name begins like that of one that is gone keeps its claims', async () => {
  await using engine = await openEngine(noDelivery)
  await engine.add([{ coalesceMs: 0 }])
  await engine.append()
  await seeGateway(engine.db, 'gone')
  engine.clock.advance(60_000)
  expect(await claimDue(engine.db, 'gone2.1', 10)).toHaveLength(1)
  const { gateways, due } = joined(engine)
  await using _ = gateways
  await gateways.start()
  expect(due).toEqual([])
})

test('a gateway that was held up is not sure until it has been seen again', async () => {
  await using engine = await openEngine(noDelivery)
  const { gateways } = joined(engine)
  await using _ = gateways
  await gateways.start()
  expect(gateways.isSure()).toBe(true)
  engine.clock.advance(9_000)
  expect(gateways.isSure()).toBe(false)
  await until(() => gateways.isSure(), Boolean)
})

test('a clock that was set leaves a gateway unsure too, whichever way', async () => {
  await using engine = await openEngine(noDelivery)
  const { gateways } = joined(engine)
  await using _ = gateways
  expect(gateways.isSure()).toBe(true)
  vi.spyOn(engine.clock, 'now').mockReturnValue(engine.clock.now() - 3_600_000)
  expect(gateways.isSure()).toBe(false)
})

test('one of many has a turn; who stops asking loses it', async () => {
  await using engine = await openEngine(noDelivery)
  const [a, b] = ['a', 'b'].map((id) => new Turns(engine.db, id, engine.clock))
  expect([await a!.isMine('sweep'), await b!.isMine('sweep')]).toEqual([true, false])
  expect([await a!.isMine('other'), await b!.isMine('other')]).toEqual([true, false])
  for (let i = 0; i < 10; i++) {
    engine.clock.advance(10_000)
    expect([await a!.isMine('sweep'), await b!.isMine('sweep')]).toEqual([true, false])
  }
  engine.clock.advance(21_000)
  expect([await b!.isMine('sweep'), await a!.isMine('sweep')]).toEqual([true, false])
})
