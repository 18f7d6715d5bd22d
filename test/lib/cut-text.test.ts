import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cutText } from '../../src/lib/cut-text.ts'

test.each([
  ['', 3, ''],
  ['abc', 3, 'abc'],
  ['abcd', 3, 'abc'],
  ['ab😀d', 3, 'ab😀'],
  ['abc😀', 3, 'abc'],
  ['😀😀😀😀', 3, '😀😀😀'],
  ['a😀😀😀', 3, 'a😀😀'],
])('%j cut at %i is %j', (text, max, cut) => {
  expect(cutText(text, max)).toBe(cut)
})

test('a cut is the first characters, whole ones, whatever the text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 0, max: 20 }), (text, max) => {
      const cut = cutText(text, max)
      expect(text.startsWith(cut)).toBe(true)
      expect(Array.from(cut).length).toBeLessThanOrEqual(max)
      expect(cut).not.toMatch(/[\uD800-\uDFFF]/u)
      if (cut !== text && text.length > max) expect(Array.from(cut)).toHaveLength(max)
    }),
  )
})
