import fc from 'fast-check'
import { expect, test } from 'vitest'
import { asJson } from '../../src/lib/as-json.ts'
import type { JsonObject } from '../../src/lib/json.ts'

test('is what JSON keeps of an object of plain values', () => {
  const { plain } = fc.letrec((tie) => ({
    plain: fc.oneof(
      { depthSize: 'medium' },
      fc.constantFrom(undefined, null, -0, Number.NaN, Number.POSITIVE_INFINITY),
      fc.double(),
      fc.boolean(),
      fc.string(),
      fc.array(tie('plain')),
      fc.dictionary(fc.oneof(fc.string(), fc.constant('__proto__')), tie('plain')),
    ),
  }))
  fc.assert(
    fc.property(fc.dictionary(fc.string(), plain), (value) => {
      expect(asJson(value as JsonObject)).toStrictEqual(JSON.parse(JSON.stringify(value)))
    }),
  )
})
