import { expect, test } from 'vitest'
import { beginSliceBefore, groupsOf, inSlice, Pauses } from '../../src/lib/pauses.ts'
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

test('a slice whose work throws is its failure of its caller, and the next one begins', async () => {
  const broken = () => {
    throw new Error('broken')
  }
  await expect(inSlice('', broken)).rejects.toThrow('broken')
  await expect(inSlice('', () => Promise.reject(new Error('refused')))).rejects.toThrow('refused')
  expect(await inSlice('', async () => 'done')).toBe('done')
})

test('work that is answered as far as it has come does not wait longer than it may for its next slice', async () => {
  let end = (): void => {}
  const long = inSlice('', () => new Promise<void>((resolve) => (end = resolve)))
  expect(await beginSliceBefore(performance.now() + 20, '')).toBe(false)
  end()
  await long
  expect(await beginSliceBefore(performance.now() - 20, '')).toBe(false)
  expect(await beginSliceBefore(performance.now() + 5_000, '')).toBe(true)
})

test('a slice whose store does not answer does not hold up the next one', async () => {
  let answer = (_: string): void => {}
  const silent = inSlice('', () => new Promise<string>((resolve) => (answer = resolve)))
  expect(await inSlice('', async () => 'next')).toBe('next')
  answer('late')
  expect(await silent).toBe('late')
})
