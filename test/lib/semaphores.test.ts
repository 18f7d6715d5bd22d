import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Release, Semaphores } from '../../src/lib/semaphores.ts'
import { FakeClock } from '../support/fake-clock.ts'

const room = { max: 2, queued: 2 }

test('those that find no room wait in order, and more than may wait are refused', async () => {
  const semaphores = new Semaphores({ clock: new FakeClock(), waitMs: 1_000 })
  const inside = [semaphores.enter('a', room), semaphores.enter('a', room)] as Release[]
  const order: number[] = []
  const waiting = [1, 2].map((n) =>
    Promise.resolve(semaphores.enter('a', room)).then((release) => {
      order.push(n)
      return release
    }),
  )
  expect(semaphores.enter('a', room)).toBeUndefined()
  expect(semaphores.enter('b', room)).toBeTypeOf('function')
  inside[0]!()
  inside[0]!()
  await waiting[0]
  expect(order).toEqual([1])
  inside[1]!()
  await waiting[1]
  expect(order).toEqual([1, 2])
})

test('nobody waits longer than the bound, and the place of one that gives up goes to nobody', async () => {
  const clock = new FakeClock()
  const semaphores = new Semaphores({ clock, waitMs: 1_000 })
  const one = { max: 1, queued: 5 }
  const release = semaphores.enter('a', one) as Release
  const late = semaphores.enter('a', one)
  clock.advance(1_000)
  expect(await late).toBeUndefined()
  release()
  expect(semaphores.enter('a', one)).toBeTypeOf('function')
})

test('0 is no limit, and without a bound a wait ends with room alone', async () => {
  const semaphores = new Semaphores()
  const free = Array.from({ length: 1_000 }, () => semaphores.enter('a', { max: 0, queued: 0 }))
  expect(free.every((release) => typeof release === 'function')).toBe(true)
  const turn = { max: 1, queued: Number.POSITIVE_INFINITY }
  const first = semaphores.enter('b', turn) as Release
  const second = semaphores.enter('b', turn)
  first()
  expect(await second).toBeTypeOf('function')
})

test('room that is given back in part is there for others, and the rest when it is freed', async () => {
  const semaphores = new Semaphores({ clock: new FakeClock(), waitMs: 1_000 })
  const ten = { max: 10, queued: 5 }
  const large = semaphores.enter('a', ten, 10) as Release
  const [small, rest] = [semaphores.enter('a', ten, 8), semaphores.enter('a', ten, 2)]
  large(2)
  large(5)
  expect(await small).toBeTypeOf('function')
  large()
  large()
  expect(await rest).toBeTypeOf('function')
  expect(semaphores.enter('a', ten, 1)).toBeInstanceOf(Promise)
})

test('alone, an entry of any weight has room', async () => {
  const semaphores = new Semaphores({ clock: new FakeClock(), waitMs: 1_000 })
  const heavy = semaphores.enter('a', { max: 10, queued: 5 }, 100) as Release
  const light = Promise.resolve(semaphores.enter('a', { max: 10, queued: 5 }, 1))
  heavy()
  expect(await light).toBeTypeOf('function')
})

test('whatever comes and goes, no more weight is inside than there is room for, and all enter in the end', async () => {
  const acts = fc.array(fc.record({ weight: fc.integer({ min: 1, max: 4 }), leaves: fc.nat(5) }), { maxLength: 60 })
  await fc.assert(
    fc.asyncProperty(acts, async (all) => {
      const semaphores = new Semaphores({ clock: new FakeClock(), waitMs: 1_000 })
      let weightInside = 0
      let entered = 0
      const inside: (() => void)[] = []
      const enter = async (weight: number): Promise<void> => {
        const release = (await semaphores.enter('a', { max: 5, queued: 100 }, weight))!
        weightInside += weight
        entered += 1
        expect(weightInside).toBeLessThanOrEqual(5)
        inside.push(() => {
          weightInside -= weight
          release()
        })
      }
      const entering = all.map(async ({ weight, leaves }) => {
        const done = enter(weight)
        for (let n = 0; n < leaves; n += 1) inside.shift()?.()
        await Promise.resolve()
        return done
      })
      while (entered < all.length) {
        await new Promise(setImmediate)
        inside.shift()?.()
      }
      await Promise.all(entering)
    }),
    { numRuns: 50 },
  )
})
