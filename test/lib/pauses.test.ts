import { expect, test } from 'vitest'
import { beginSlice, groupsOf, Pauses } from '../../src/lib/pauses.ts'
import { Iterations } from '../support/iterations.ts'

test('a pause comes when an iteration has done enough, and groups are as large as that', async () => {
  const pauses = new Pauses('')
  expect(pauses.after(200_000)).toBe(undefined)
  expect(pauses.after(200_000)).toBeInstanceOf(Promise)
  expect(pauses.after(200_000)).toBe(undefined)
  const sizes = [1, 2, 300_000, 200_000, 60_000, 60_000]
  expect(groupsOf(sizes.map((size) => ({ size }))).map((group) => group.map(({ size }) => size))).toEqual([
    [1, 2],
    [300_000],
    [200_000, 60_000],
    [60_000],
  ])
  expect(groupsOf([])).toEqual([])
})

function work(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}

async function longWork(slices: number): Promise<void> {
  const pauses = new Pauses('')
  for (let done = 0; done < slices; done++) {
    work(2)
    await pauses.after(1024 * 1024)
  }
}

test('while others have work, each pause leaves them several iterations', async () => {
  using others = new Iterations(() => work(0.3))
  await longWork(10)
  expect(others.count).toBeGreaterThan(10 * 2)
})

test('long works that go on together leave the others as many iterations as one does', async () => {
  using others = new Iterations(() => work(0.3))
  await Promise.all(Array.from({ length: 5 }, () => longWork(4)))
  expect(others.count).toBeGreaterThan(20 * 2)
})

test('long work without others goes on in the next iteration', async () => {
  using iterations = new Iterations()
  await longWork(20)
  expect(iterations.count).toBeLessThan(20 * 4)
})

test('callers have their slices in turn: much work of one delays the work of another by one slice of each caller', async () => {
  const turns: string[] = []
  const waiting = (by: string) => beginSlice(by).then(() => turns.push(by))
  const inSequence = async (by: string, slices: number): Promise<void> => {
    for (let done = 0; done < slices; done++) await waiting(by)
  }
  const many = Array.from({ length: 40 }, () => waiting('greedy'))
  await Promise.all([inSequence('modest', 5), inSequence('other', 3)])
  const modestAt = turns.flatMap((by, turn) => (by === 'modest' ? [turn] : []))
  // Its first slice waits for the one that was under way; each of the others for one of each caller.
  expect(modestAt[0]).toBeLessThanOrEqual(1)
  for (const [index, turn] of modestAt.entries()) expect(turn - (modestAt[index - 1] ?? -1)).toBeLessThanOrEqual(3)
  await Promise.all(many)
  expect(turns.filter((by) => by === 'greedy')).toHaveLength(40)
  expect(turns).toHaveLength(48)
})
