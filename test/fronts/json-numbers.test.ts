import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Problem } from '../../src/errors.ts'
import { requireExactNumbers, requireSafeNumbers } from '../../src/fronts/json-numbers.ts'

function refusal(check: () => void): Problem | undefined {
  try {
    check()
    return undefined
  } catch (error) {
    if (error instanceof Problem) return error
    throw error
  }
}

const refusalOf = (text: string) => refusal(() => requireExactNumbers(Buffer.from(text)))

describe('a number of a JSON text', () => {
  test.each([
    ['{"payload":{"chat":1234567890123456789}}', 'payload.chat', '1234567890123456789'],
    ['[0,{"a":[1,-9007199254740993]}]', '[1].a[1]', '-9007199254740993'],
    ['{"id":1152921504606846976}', 'id', '1152921504606846976'],
    ['{"a":1e400}', 'a', '1e400'],
    ['{"a":-1.5E+309}', 'a', '-1.5E+309'],
    ['{"a":1000000000000000000000000}', 'a', '1000000000000000000000000'],
    ['{"\\"1":"\\\\","b":9007199254740993}', 'b', '9007199254740993'],
  ])('is refused in %s, by its field and what to do', (text, field, digits) => {
    const problem = refusalOf(text)
    expect(problem).toMatchObject({ code: 'invalid-request', field })
    expect(problem?.message).toContain(`${field}: ${digits}`)
    expect(problem?.message).toContain(`Send it as a text: "${digits}"`)
  })

  test('is refused without a field where it is the whole text', () => {
    expect(refusalOf('9007199254740993')).toMatchObject({ code: 'invalid-request', field: undefined })
  })

  test.each([
    '9007199254740992',
    '-9007199254740991',
    '100000000000000000000',
    '1234567890123456800',
    '1.7976931348623157e308',
    '0.1234567890123456789',
    '1e-400',
    '"1234567890123456789"',
    '{"1234567890123456789":1}',
    '"a\\"1234567890123456789"',
    // No JSON: the parser says so.
    '{"a":0001234567890123456789}',
    '{"a":1234567890123456789',
    '1.2.3e999',
    '"1234567890123456789',
  ])('is let through in %s', (text) => {
    expect(refusalOf(text)).toBeUndefined()
  })

  test('is let through where JSON.stringify has written it, and then it is read as it was', () => {
    fc.assert(
      fc.property(fc.oneof(fc.double(), fc.bigInt({ min: -(10n ** 25n), max: 10n ** 25n }).map(Number)), (value) => {
        expect(refusalOf(JSON.stringify({ value }))).toBeUndefined()
      }),
    )
  })

  test('is let through exactly where it is written again with the same digits', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 25n), max: 10n ** 25n }), (value) => {
        const isExact = JSON.stringify(JSON.parse(String(value))) === String(value)
        expect(refusalOf(`{"a":[${value}]}`) === undefined).toBe(isExact)
      }),
    )
  })
})

describe('a number that another reader has read', () => {
  test.each([
    [{ payload: { chat: Number('1234567890123456789') } }, 'payload.chat'],
    [{ list: [1, { a: -(2 ** 53) }] }, 'list[1].a'],
    [{ a: Number.POSITIVE_INFINITY }, 'a'],
  ])('is refused beyond 2^53: %j', (value, field) => {
    expect(refusal(() => requireSafeNumbers(value))).toMatchObject({ code: 'invalid-request', field })
  })

  test.each([{ a: Number.MAX_SAFE_INTEGER }, { a: 0.1 }, { a: '1234567890123456789' }, undefined, null])(
    'is let through: %j',
    (value) => {
      expect(refusal(() => requireSafeNumbers(value))).toBeUndefined()
    },
  )
})
