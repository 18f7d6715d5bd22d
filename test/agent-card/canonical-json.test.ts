import { expect, test } from 'vitest'
import { canonicalJson } from '../../src/agent-card/canonical-json.ts'

test.each([
  // The sorting example of RFC 8785, section 3.2.3.
  [
    { '\u20ac': 1, '\r': 2, '\ufb33': 3, '1': 4, '\ud83d\ude00': 5, '\u0080': 6, '\u00f6': 7 },
    '{"\\r":2,"1":4,"\u0080":6,"\u00f6":7,"\u20ac":1,"\ud83d\ude00":5,"\ufb33":3}',
  ],
  [{ b: [1e21, 0.002, -0, true, null], a: { d: '', c: undefined } }, '{"a":{"d":""},"b":[1e+21,0.002,0,true,null]}'],
  [[], '[]'],
])('%j is written as RFC 8785 says', (value, expected) => {
  expect(canonicalJson(value)).toBe(expected)
})
