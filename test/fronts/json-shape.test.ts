import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { requireModestJson } from '../../src/fronts/json-shape.ts'
import { sizeLimits } from '../../src/limits.ts'
import { servedMs } from '../support/served-time.ts'

const { max: depthMax } = sizeLimits.depth
const { max: valuesMax } = sizeLimits.values
const nested = (levels: number, inner = ''): string => `${'['.repeat(levels)}${inner}${']'.repeat(levels)}`
const check = (text: string): number => requireModestJson(Buffer.from(text))

describe('the shape of a JSON text', () => {
  test('as many levels as are allowed pass, one more is refused with the limit', () => {
    expect(() => check(nested(depthMax))).not.toThrow()
    expect(() => check(nested(depthMax + 1))).toThrow(/64 levels/)
    expect(() => check(`{"a":${nested(depthMax)}}`)).toThrow(/64 levels/)
  })

  test('as many values as are allowed pass, one more is refused with the limit', () => {
    expect(() => check(`[${'1,'.repeat(valuesMax - 2)}1]`)).not.toThrow()
    expect(() => check(`[${'1,'.repeat(valuesMax)}1]`)).toThrow(`${valuesMax} values`)
  })

  test('empty arrays count: a million of them is a million values', () => {
    expect(() => check(`[${'[],'.repeat(1_000_000)}[]]`)).toThrow(`${valuesMax} values`)
  })

  test('characters inside a string do not count as structure', () => {
    expect(() =>
      check(JSON.stringify([nested(200), '\\', `"${nested(200)}`, `\\"${nested(200)}`, ','.repeat(200_000)])),
    ).not.toThrow()
  })

  test('16 MB of quotes and backslashes take linear time', () => {
    const text = Buffer.from(`"${'\\"'.repeat(8_000_000)}`)
    const start = servedMs()
    requireModestJson(text)
    expect(servedMs() - start).toBeLessThan(5_000)
  })

  test('any JSON value of a modest shape passes', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => check(JSON.stringify(value)) > 0))
  })

  test('any bytes are read to their end', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => requireModestJson(Buffer.from(bytes)) > 0),
      { numRuns: 500 },
    )
  })
})
