import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Problem } from '../../src/errors.ts'
import { parseHandle } from '../../src/registry/agents/agent.ts'

test.each([
  ['donna', '@donna'],
  ['@donna', '@donna'],
  [' @Donna ', '@donna'],
  ['DONNA', '@donna'],
  ['a', '@a'],
  ['7', '@7'],
  ['build-bot_2.eu', '@build-bot_2.eu'],
  ['x_', '@x_'],
  ['a'.repeat(64), `@${'a'.repeat(64)}`],
])('%j is the handle %j', (text, handle) => {
  expect(parseHandle(text)).toBe(handle)
})

test.each([
  '',
  '@',
  '@@donna',
  'don na',
  '-donna',
  '.donna',
  'donna.',
  'donna-',
  '_x',
  'donna/../x',
  'дonna',
  'a'.repeat(65),
  'operator',
  '@Operator',
  'all',
  'system',
  'gateway',
])('%j is no handle, and the field is named', (text) => {
  expect(() => parseHandle(text, 'aliases')).toThrow(
    expect.objectContaining({
      code: 'invalid-request',
      field: 'aliases',
      message: expect.stringMatching(/^aliases: /),
    }),
  )
})

test('a handle does not change when it is parsed again, needs no escaping in a path, and only a Problem is thrown', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^@?[A-Za-z0-9._-]{1,70}$/)), (text) => {
      let handle: string
      try {
        handle = parseHandle(text)
      } catch (error) {
        return error instanceof Problem && error.code === 'invalid-request'
      }
      const bare = handle.slice(1)
      return parseHandle(handle) === handle && parseHandle(bare) === handle && encodeURIComponent(bare) === bare
    }),
    { numRuns: 1_000 },
  )
})
