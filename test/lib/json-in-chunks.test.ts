import fc from 'fast-check'
import { expect, test } from 'vitest'
import { jsonInChunks } from '../../src/lib/json-in-chunks.ts'
import { groupsOf, Pauses } from '../../src/lib/pauses.ts'

test('is what JSON.stringify makes of the same value', async () => {
  const plain = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 9 }))
  await fc.assert(
    fc.asyncProperty(plain, async (value) => {
      expect((await jsonInChunks(value)).toString()).toBe(JSON.stringify(value))
    }),
  )
  const odd = {
    none: undefined,
    empty: [],
    nothing: {},
    list: [undefined, null, [[]]],
    at: new Date(0),
    é: '\u2028"😀',
  }
  expect((await jsonInChunks(odd)).toString()).toBe(JSON.stringify(odd))
})

test('a large value is made over several iterations of the event loop', async () => {
  const value = { artifacts: Array.from({ length: 8 }, (_, index) => ({ text: `${index}`.repeat(300_000) })) }
  let iterations = 0
  let isOver = false
  const count = (): void => {
    iterations++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  const body = await jsonInChunks(value)
  isOver = true
  expect(body.toString()).toBe(JSON.stringify(value))
  expect(iterations).toBeGreaterThanOrEqual(8)
})

test('a pause comes when an iteration has done enough, and groups are as large as that', async () => {
  const pauses = new Pauses()
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
