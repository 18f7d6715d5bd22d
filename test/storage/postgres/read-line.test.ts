import { expect, test } from 'vitest'
import { ReadLine } from '../../../src/storage/postgres/read-line.ts'

function pending() {
  const ends: (() => void)[] = []
  const begun: string[] = []
  const work = (name: string) => () => {
    begun.push(name)
    return new Promise<void>((end) => ends.push(end))
  }
  return { begun, work, endOne: () => ends.shift()!() }
}

test('however many read, what is first finds a place at once, and goes before all who wait', async () => {
  const { begun, work, endOne } = pending()
  const line = new ReadLine(3, 1)
  const reads = ['a', 'b', 'c', 'd'].map((name) => line.run(false, work(name)))
  reads.push(line.run(true, work('key 1')), line.run(true, work('key 2')))
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

test('a read that fails gives its place back', async () => {
  const line = new ReadLine(2, 1)
  await expect(line.run(false, () => Promise.reject(new Error('lost')))).rejects.toThrow('lost')
  expect(await line.run(false, async () => 'answered')).toBe('answered')
})
