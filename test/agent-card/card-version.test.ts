import { expect, test } from 'vitest'
import { cardVersionFor } from '../../src/agent-card/card-version.ts'
import { Problem } from '../../src/errors.ts'

test.each([
  [undefined, undefined],
  ['', '0.3'],
  ['0.3', '0.3'],
  ['0.3.0', '0.3'],
  ['1', '1.0'],
  ['1.0', '1.0'],
  ['1.0.1', '1.0'],
  [' 1.0 ', '1.0'],
])('A2A-Version %j gets the card of %s', (header, version) => {
  expect(cardVersionFor(header)).toBe(version)
})

test.each(['2.0', '0.2', '1.1', 'v1', '1.0, 0.3', '0', '01.0'])('A2A-Version %j is refused', (header) => {
  let thrown: unknown
  try {
    cardVersionFor(header)
  } catch (error) {
    thrown = error
  }
  expect(thrown).toBeInstanceOf(Problem)
  expect(thrown).toMatchObject({ code: 'invalid-request', field: 'A2A-Version', extra: { supported: ['1.0', '0.3'] } })
  expect((thrown as Problem).message).toContain('A2A-Version')
})
