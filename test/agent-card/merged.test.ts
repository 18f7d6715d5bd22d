import { expect, test } from 'vitest'
import { merged } from '../../src/agent-card/documents.ts'

// D45
test.each([
  ['fields of either', { a: 1 }, { b: 2 }, { a: 1, b: 2 }],
  ['the value of the first where both have one', { a: 1, c: null }, { a: 2, c: 3 }, { a: 1, c: null }],
  ['objects within', { a: { b: 1 } }, { a: { c: 2 } }, { a: { b: 1, c: 2 } }],
  ['items of lists of one length', { a: [{ b: 1 }, 2] }, { a: [{ c: 2 }, 3] }, { a: [{ b: 1, c: 2 }, 2] }],
  ['a list of another length not at all', { a: [{ b: 1 }] }, { a: [{ c: 2 }, {}] }, { a: [{ b: 1 }] }],
  ['values of different kinds not at all', { a: { b: 1 } }, { a: [1] }, { a: { b: 1 } }],
])('%s are merged', (_what, first, second, both) => {
  expect(merged(first, second)).toEqual(both)
})
