import { expect, test } from 'vitest'
import { ulidFloor } from '../../src/lib/ids.ts'
import { singleEmission } from '../../src/wakes/content/emission.ts'
import { listDeliveries, pruneDeliveries, saveDelivery } from '../../src/wakes/store/delivery-store.ts'
import { keepEmission } from '../../src/wakes/store/unfinished-store.ts'
import { messageSent, noon, subscriptionOf } from './builders.ts'
import { arrived, openEngine } from './engine.ts'

const id = 'WAKE_SUB:1'
const dayMs = 86_400_000

test('a record that was left open is removed in the end, one whose emission is kept never', async () => {
  await using engine = await openEngine(async () => arrived)
  await engine.add([{ id }])
  const emission = (name: string) => {
    const made = singleEmission(subscriptionOf({ id }), messageSent(1), null, noon)
    return { ...made, eventId: `${ulidFloor(noon).slice(0, 10)}${name.padStart(16, '0')}` }
  }
  await engine.db.transaction(async (tx) => {
    await saveDelivery(tx, { subscriptionId: id, emission: emission('LEFT'), attempts: [] }, 'pending', noon + 1_000)
    await keepEmission(tx, id, { emission: emission('KEPT'), cursorLogId: 1 }, [])
  })
  const { signal } = new AbortController()
  expect(await pruneDeliveries(engine.db, noon + 500, signal)).toBe(0)
  expect(await pruneDeliveries(engine.db, noon + 30 * dayMs, signal)).toBe(1)
  const left = await listDeliveries(engine.db, id, '', 10)
  expect(left.map(({ eventId }) => eventId)).toEqual([emission('KEPT').eventId])
})
