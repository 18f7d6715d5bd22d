import { expect, test } from 'vitest'
import { once } from '../../src/lib/once.ts'

test('a value is made once, also for callers at the same time', async () => {
  let made = 0
  const value = once(async () => ++made)
  expect(await Promise.all([value(), value()])).toEqual([1, 1])
  expect(await value()).toBe(1)
})

test('a try that failed is forgotten: the next call tries again', async () => {
  let tries = 0
  const value = once(async () => {
    if (++tries === 1) throw new Error('no file handles are left')
    return 'loaded'
  })
  const both = await Promise.allSettled([value(), value()])
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(await value()).toBe('loaded')
  expect(tries).toBe(2)
})
