import { expect, test } from 'vitest'
import { RecentValues } from '../../src/lib/recent-values.ts'

test('what was made of a key is shared until enough other keys came', () => {
  const made: string[] = []
  const latest = new RecentValues<{ name: string }, string>(2)
  const make = ({ name }: { name: string }) => {
    made.push(name)
    return name.toUpperCase()
  }
  const [a, b, c] = [{ name: 'a' }, { name: 'b' }, { name: 'c' }]
  expect([latest.of(a, make), latest.of(a, make), latest.of(b, make)]).toEqual(['A', 'A', 'B'])
  latest.of(c, make)
  latest.of(b, make)
  latest.of(a, make)
  expect(made).toEqual(['a', 'b', 'c', 'a'])
})

test('a failure is not remembered', async () => {
  const latest = new RecentValues<object, Promise<number>>(2)
  const key = {}
  await expect(latest.of(key, async () => Promise.reject(new Error('gone')))).rejects.toThrow('gone')
  await expect(latest.of(key, async () => 1)).resolves.toBe(1)
})
