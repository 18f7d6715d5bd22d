import { expect, test } from 'vitest'
import { ReadQueue } from '../../../src/storage/postgres/read-pool.ts'

function pending() {
  const ends: (() => void)[] = []
  const begun: string[] = []
  const work = (name: string) => () => {
    begun.push(name)
    return new Promise<void>((end) => ends.push(end))
  }
  return { begun, work, endOne: () => ends.shift()!() }
}

test('a read that goes first has a reserved place, and is run before all waiting reads', async () => {
  const { begun, work, endOne } = pending()
  const queue = new ReadQueue(3, 1)
  const reads = ['a', 'b', 'c', 'd'].map((name) => queue.run(false, work(name)))
  reads.push(queue.run(true, work('key 1')), queue.run(true, work('key 2')))
  await Promise.resolve()
  expect(begun).toEqual(['a', 'b', 'key 1'])
  endOne()
  await reads[0]
  expect(begun).toEqual(['a', 'b', 'key 1', 'key 2'])
  for (let left = 5; left > 0; left--) {
    endOne()
    await new Promise(setImmediate)
  }
  await Promise.all(reads)
  expect(begun).toEqual(['a', 'b', 'key 1', 'key 2', 'c', 'd'])
})

test('a read that fails frees its place', async () => {
  const queue = new ReadQueue(2, 1)
  await expect(queue.run(false, () => Promise.reject(new Error('lost')))).rejects.toThrow('lost')
  expect(await queue.run(false, async () => 'answered')).toBe('answered')
})
