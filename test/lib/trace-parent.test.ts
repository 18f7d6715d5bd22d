import { expect, test } from 'vitest'
import { readTraceparent } from '../../src/lib/trace-parent.ts'

const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
const span = '00f067aa0ba902b7'
const good = `00-${trace}-${span}-01`

test.each([
  [good, good],
  [` ${good} `, good],
  // Of a later version the fields that are known are continued.
  [`cc-${trace}-${span}-01-what-comes-later`, good],
  [`cc-${trace}-${span}-00`, `00-${trace}-${span}-00`],
])('%j is continued', (given, read) => {
  expect(readTraceparent(given)).toBe(read)
})

test.each([
  undefined,
  '',
  `ff-${trace}-${span}-01`,
  `00-${trace}-${span}-01-more`,
  `00-${trace.toUpperCase()}-${span}-01`,
  `00-${'0'.repeat(32)}-${span}-01`,
  `00-${trace}-${'0'.repeat(16)}-01`,
  `00-${trace}-${span}`,
  `00-${trace}-${span}-1`,
  `${good}\r\nx-evil: 1`,
  `cc-${trace}-${span}-01-a\nb`,
  `${good},${good}`,
])('%j is not', (given) => {
  expect(readTraceparent(given)).toBeUndefined()
})
