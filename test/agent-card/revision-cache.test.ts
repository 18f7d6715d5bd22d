import { expect, test } from 'vitest'
import { RevisionCache } from '../../src/agent-card/revision-cache.ts'

const cacheOf = <V>(entriesMax: number) => new RevisionCache<V>({ entriesMax, weightMax: 1, weigh: () => 0 })

test('a revision is built once, also for callers that arrive together', async () => {
  const cache = cacheOf<number>(10)
  let built = 0
  const build = async () => ++built
  expect(await Promise.all([cache.get('a', '1', build), cache.get('a', '1', build)])).toEqual([1, 1])
  expect(await cache.get('a', '2', build)).toBe(2)
  expect(cache.size).toBe(1)
})

test('the least recently used entry leaves first', async () => {
  const cache = cacheOf<string>(2)
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
  const cache = cacheOf<string>(2)
  await expect(cache.get('a', '1', () => Promise.reject(new Error('no key')))).rejects.toThrow('no key')
  expect(await cache.get('a', '1', async () => 'a')).toBe('a')
})

test('values that are too heavy together leave first, a heavy new one too, and a new revision takes the place of the old', async () => {
  const cache = new RevisionCache<string>({ entriesMax: 10, weightMax: 10, weigh: (text) => text.length })
  const put = (key: string, revision: string, text: string) => cache.get(key, revision, async () => text)
  for (let n = 0; n < 5; n++) await put('a', `${n}`, 'aaaa')
  await put('b', '1', 'bbbb')
  expect(cache.size).toBe(2)
  await put('c', '1', 'cccc')
  expect(cache.size).toBe(2)
  expect(await put('b', '1', 'not built')).toBe('bbbb')
  expect(await put('huge', '1', 'x'.repeat(11))).toHaveLength(11)
  await Promise.resolve()
  expect(cache.size).toBe(0)
  expect(await put('a', '9', 'aaaa')).toBe('aaaa')
  expect(cache.size).toBe(1)
})

test('a value that was evicted while it was built weighs nothing', async () => {
  const cache = new RevisionCache<string>({ entriesMax: 1, weightMax: 4, weigh: (text) => text.length })
  let finish = (_: string) => {}
  const slow = cache.get('slow', '1', () => new Promise((resolve) => (finish = resolve)))
  await cache.get('a', '1', async () => 'aaaa')
  finish('slow')
  await slow
  expect(await cache.get('a', '1', async () => 'not built')).toBe('aaaa')
  expect(cache.size).toBe(1)
})
