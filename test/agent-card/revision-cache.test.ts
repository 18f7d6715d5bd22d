import { expect, test } from 'vitest'
import { RevisionCache } from '../../src/agent-card/revision-cache.ts'

test('a revision is built once, also for callers that arrive together', async () => {
  const cache = new RevisionCache<number>(10)
  let built = 0
  const build = async () => ++built
  expect(await Promise.all([cache.get('a', '1', build), cache.get('a', '1', build)])).toEqual([1, 1])
  expect(await cache.get('a', '2', build)).toBe(2)
  expect(cache.size).toBe(1)
})

test('the least recently used entry leaves first', async () => {
  const cache = new RevisionCache<string>(2)
  const value = (text: string) => async () => text
  await cache.get('a', '1', value('a'))
  await cache.get('b', '1', value('b'))
  await cache.get('a', '1', value('not built'))
  await cache.get('c', '1', value('c'))
  expect(cache.size).toBe(2)
  expect(await cache.get('a', '1', value('rebuilt'))).toBe('a')
  expect(await cache.get('b', '1', value('rebuilt'))).toBe('rebuilt')
})

test('a failed build is forgotten', async () => {
  const cache = new RevisionCache<string>(2)
  await expect(cache.get('a', '1', () => Promise.reject(new Error('no key')))).rejects.toThrow('no key')
  expect(await cache.get('a', '1', async () => 'a')).toBe('a')
})
