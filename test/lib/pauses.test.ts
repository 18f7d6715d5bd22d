import { expect, test } from 'vitest'
import { groupsOf, Pauses } from '../../src/lib/pauses.ts'

const enough = 1024 * 1024

function work(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}

/** Work of others in each iteration of the event loop, until it is disposed. */
class Others {
  iterations = 0
  #isOver = false

  constructor() {
    const next = (): void => {
      work(0.3)
      this.iterations++
      if (!this.#isOver) setImmediate(next)
    }
    setImmediate(next)
  }

  [Symbol.dispose](): void {
    this.#isOver = true
  }
}

async function longWork(slices: number): Promise<void> {
  const pauses = new Pauses()
  for (let done = 0; done < slices; done++) {
    work(2)
    await pauses.after(enough)
  }
}

test('little work does not pause', () => {
  const pauses = new Pauses()
  expect(pauses.after(1_000)).toBeUndefined()
  expect(pauses.after(enough)).toBeInstanceOf(Promise)
  expect(pauses.after(1_000)).toBeUndefined()
})

test('while others have work, each pause leaves them several iterations', async () => {
  using others = new Others()
  await longWork(10)
  expect(others.iterations).toBeGreaterThan(10 * 2)
})

test('works that go on together leave them as many as one does', async () => {
  using others = new Others()
  await Promise.all(Array.from({ length: 5 }, () => longWork(4)))
  expect(others.iterations).toBeGreaterThan(20 * 2)
})

test('who is alone goes on in the next iteration', async () => {
  const pauses = new Pauses()
  let iterations = 0
  let isOver = false
  const count = (): void => {
    iterations++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  const slices = 20
  for (let done = 0; done < slices; done++) {
    work(2)
    await pauses.after(enough)
  }
  isOver = true
  expect(iterations).toBeLessThan(slices * 4)
})

test('groups hold what one iteration works on, and an entry that is larger has one of its own', () => {
  const sizes = [enough, 10, 20, enough, 200_000, 200_000].map((size) => ({ size }))
  expect(groupsOf(sizes).map((group) => group.map(({ size }) => size))).toEqual([
    [enough],
    [10, 20],
    [enough],
    [200_000],
    [200_000],
  ])
})
