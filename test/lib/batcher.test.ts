import { expect, test } from 'vitest'
import { Batcher } from '../../src/lib/batcher.ts'

test('requests of one iteration are answered together, and those of the next one separately', async () => {
  const loads: (readonly number[])[] = []
  const together = new Batcher<number, string>(async (items) => {
    loads.push(items)
    return items.join()
  })
  const first = together.load([1, 2])
  await Promise.resolve()
  expect(await Promise.all([first, together.load([3])])).toEqual(['1,2,3', '1,2,3'])
  expect(await together.load([4])).toBe('4')
  expect(loads).toEqual([[1, 2, 3], [4]])
})

test('a failure reaches every caller of the iteration, and no later caller', async () => {
  let fails = true
  const together = new Batcher<number, number>(async (items) => {
    if (fails) throw new Error('refused')
    return items.length
  })
  const answers = await Promise.allSettled([together.load([1]), together.load([2])])
  expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  fails = false
  expect(await together.load([3])).toBe(1)
})
