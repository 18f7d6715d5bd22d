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

test('so are long texts and heavy lists and objects, wherever they are cut', async () => {
  const texts = Array.from(
    { length: 4 },
    (_, shift) => `${'x'.repeat(16_381 + shift)}😀é"\\\ud83d${'y'.repeat(40_000)}\ude00`,
  )
  const values = Array.from({ length: 5_000 }, (_, index) => (index % 3 === 0 ? { index, deep: [[index]] } : index))
  const fields = Object.fromEntries(
    values.map((value, index) => [index % 2 === 0 ? `key ${index}` : String(index), value]),
  )
  const odd = [undefined, ...texts, undefined, Number.NaN, -0, new Date(0), { gone: undefined, kept: texts }]
  const heavy = {
    texts,
    list: { values, odd, bytes: Buffer.alloc(9) },
    fields,
    own: JSON.parse('{"__proto__":{"a":1}}'),
  }
  for (const value of [heavy, { ...fields, last: values }, [values, [], {}, odd]]) {
    expect((await jsonInChunks(value, '')).toString()).toBe(JSON.stringify(value))
  }
})

test('a large value is made over several iterations of the event loop', async () => {
  const value = { artifacts: Array.from({ length: 8 }, (_, index) => ({ text: `${index}`.repeat(300_000) })) }
  using iterations = new Iterations()
  const body = await jsonInChunks(value, '')
  expect(body.toString()).toBe(JSON.stringify(value))
  expect(iterations.count).toBeGreaterThanOrEqual(8)
})
