import fc from 'fast-check'
import { expect, test } from 'vitest'
import { jsonInTurns } from '../../src/lib/json-in-turns.ts'
import { groupsOf, Pauses } from '../../src/lib/pauses.ts'

test('is what JSON.stringify makes of the same value', async () => {
  const plain = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 9 }))
  await fc.assert(
    fc.asyncProperty(plain, async (value) => {
      expect((await jsonInTurns(value)).toString()).toBe(JSON.stringify(value))
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
  expect((await jsonInTurns(odd)).toString()).toBe(JSON.stringify(odd))
})

test('a large value is made over several turns of the event loop', async () => {
  const value = { artifacts: Array.from({ length: 8 }, (_, index) => ({ text: `${index}`.repeat(300_000) })) }
  let turns = 0
  let isOver = false
  const count = (): void => {
    turns++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  const body = await jsonInTurns(value)
  isOver = true
  expect(body.toString()).toBe(JSON.stringify(value))
  expect(turns).toBeGreaterThanOrEqual(8)
})

test('a pause comes when a turn has done enough, and groups are as large as that', async () => {
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
