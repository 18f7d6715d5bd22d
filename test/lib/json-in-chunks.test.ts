import fc from 'fast-check'
import { expect, test } from 'vitest'
import { jsonInChunks } from '../../src/lib/json-in-chunks.ts'
import { Iterations } from '../support/iterations.ts'

test('is what JSON.stringify makes of the same value', async () => {
  const plain = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 9 }))
  await fc.assert(
    fc.asyncProperty(plain, async (value) => {
      expect((await jsonInChunks(value, '')).toString()).toBe(JSON.stringify(value))
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
  expect((await jsonInChunks(odd, '')).toString()).toBe(JSON.stringify(odd))
})

test('a large value is made over several iterations of the event loop', async () => {
  const value = { artifacts: Array.from({ length: 8 }, (_, index) => ({ text: `${index}`.repeat(300_000) })) }
  using iterations = new Iterations()
  const body = await jsonInChunks(value, '')
  expect(body.toString()).toBe(JSON.stringify(value))
  expect(iterations.count).toBeGreaterThanOrEqual(8)
})
