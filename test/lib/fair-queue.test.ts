import fc from 'fast-check'
import { expect, test } from 'vitest'
import { FairQueue, type Member } from '../../src/lib/fair-queue.ts'
import { FakeClock } from '../support/fake-clock.ts'

const bounds = { few: 2, atOnce: 1, rememberMs: 250, pauseMs: 50, patienceMs: 25 }
const nextTurn = () => new Promise(setImmediate)

/** Asks for a slot, and notes when it comes. */
class Asker {
  readonly queue: FairQueue
  readonly key: string
  readonly inside: Member[] = []
  entered = 0
  #rememberedUntil = 0

  constructor(queue: FairQueue, key: string) {
    this.queue = queue
    this.key = key
  }

  ask(inCompany = true): void {
    this.entered++
    const entered = this.queue.enter(this.key, inCompany)
    if (entered instanceof Promise) void entered.then((member) => this.inside.push(member))
    else this.inside.push(entered)
  }

  leave(): void {
    this.queue.leave(this.inside.pop()!)
  }

  isRemembered(clock: FakeClock): boolean {
    return clock.now() < this.#rememberedUntil
  }

  remember(clock: FakeClock): void {
    this.#rememberedUntil = clock.now() + bounds.rememberMs
  }

  get waiting(): number {
    return this.entered - this.inside.length
  }
}

test('a lone caller never waits, however much it asks for', () => {
  const queue = new FairQueue(new FakeClock(), bounds)
  for (let n = 0; n < 1_000; n++) expect(queue.enter('a', false)).not.toBeInstanceOf(Promise)
})

test('who asks for much waits while one that asks for little is inside, and has one request inside between two of the others', async () => {
  const clock = new FakeClock()
  const queue = new FairQueue(clock, bounds)
  const [much, little] = [new Asker(queue, 'much'), new Asker(queue, 'little')]
  for (let n = 0; n < 2; n++) much.ask()
  little.ask()
  for (let n = 0; n < 5; n++) much.ask()
  expect([much.inside.length, little.inside.length]).toEqual([2, 1])
  much.leave()
  much.leave()
  await nextTurn()
  expect(much.inside).toHaveLength(0)
  little.leave()
  await nextTurn()
  expect(much.inside).toHaveLength(1)
  little.ask()
  expect(little.inside).toHaveLength(1)
  much.leave()
  await nextTurn()
  expect(much.inside).toHaveLength(0)
})

test('the operator never waits, and the others wait for it', async () => {
  const queue = new FairQueue(new FakeClock(), bounds)
  const much = new Asker(queue, 'much')
  for (let n = 0; n < 2; n++) much.ask()
  const all = Array.from({ length: 10 }, () => queue.enterFirst('operator'))
  much.ask()
  much.leave()
  much.leave()
  await nextTurn()
  expect(much.inside).toHaveLength(0)
  for (const entered of all) queue.leave(entered)
  await nextTurn()
  expect(much.inside).toHaveLength(1)
})

test('patience ends: one request at a time goes on although others are inside', async () => {
  const clock = new FakeClock()
  const queue = new FairQueue(clock, bounds)
  const [much, little] = [new Asker(queue, 'much'), new Asker(queue, 'little')]
  little.ask()
  for (let n = 0; n < 2; n++) much.ask()
  much.ask()
  much.ask()
  much.leave()
  much.leave()
  clock.advance(bounds.patienceMs)
  await nextTurn()
  expect(much.inside).toHaveLength(1)
  clock.advance(bounds.patienceMs)
  await nextTurn()
  expect(much.inside).toHaveLength(1)
  much.leave()
  clock.advance(bounds.patienceMs)
  await nextTurn()
  expect(much.inside).toHaveLength(1)
})

test('where all ask for much, nobody waits for anybody', () => {
  const clock = new FakeClock()
  const queue = new FairQueue(clock, bounds)
  const askers = ['a', 'b', 'c'].map((key) => new Asker(queue, key))
  for (let n = 0; n < 3; n++) for (const asker of askers) asker.ask(false)
  clock.advance(bounds.pauseMs)
  for (let n = 0; n < 5; n++) for (const asker of askers) asker.ask()
  expect(askers.map(({ inside }) => inside.length)).toEqual([8, 8, 8])
})

test('in any order of coming and going nobody starves, who asks for little never waits, and nothing is left over', async () => {
  const act = fc.record({ who: fc.nat(3), what: fc.constantFrom('ask', 'ask', 'leave', 'tick'), ms: fc.nat(60) })
  await fc.assert(
    fc.asyncProperty(fc.array(act, { maxLength: 120 }), async (acts) => {
      const clock = new FakeClock()
      const queue = new FairQueue(clock, bounds)
      const askers = [0, 1, 2, 3].map((n) => new Asker(queue, `${n}`))
      for (const { who, what, ms } of acts) {
        const asker = askers[who]!
        if (what === 'tick') clock.advance(ms)
        else if (what === 'leave' && asker.inside.length > 0) {
          asker.leave()
          asker.entered--
        } else if (asker.waiting < 20) {
          const isModest = asker.inside.length < bounds.few && asker.waiting === 0 && !asker.isRemembered(clock)
          asker.ask()
          if (isModest) expect(asker.waiting).toBe(0)
          else asker.remember(clock)
        }
        await nextTurn()
      }
      // Requests in process end. After 200 times `patienceMs` no request waits any more.
      for (let round = 0; round < 200 && askers.some(({ waiting }) => waiting > 0); round++) {
        for (const asker of askers) {
          while (asker.inside.length > 0) {
            asker.leave()
            asker.entered--
          }
        }
        clock.advance(bounds.patienceMs)
        await nextTurn()
      }
      expect(askers.map(({ waiting }) => waiting)).toEqual([0, 0, 0, 0])
      for (const asker of askers) while (asker.inside.length > 0) asker.leave()
      clock.advance(bounds.patienceMs)
      expect(clock.timerCount).toBe(0)
    }),
    { numRuns: 200 },
  )
})

test('of members that left nothing is remembered beyond a bound', () => {
  const clock = new FakeClock()
  const queue = new FairQueue(clock, bounds)
  for (let n = 0; n < 10_000; n++) {
    const asker = new Asker(queue, `${n}`)
    for (let m = 0; m < 4; m++) asker.ask(false)
    for (let m = 0; m < 4; m++) asker.leave()
    clock.advance(1)
  }
  expect(queue.remembered).toBeLessThanOrEqual(4_096)
})
