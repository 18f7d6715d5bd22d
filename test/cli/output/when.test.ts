import { expect, test } from 'vitest'
import { relative, when, whenLong } from '../../../src/cli/output/when.ts'

const now = Date.parse('2026-04-26T10:00:00.000Z')

test.each([
  ['2026-04-26T10:00:00.400Z', 'now'],
  ['2026-04-26T09:59:55.000Z', '5 s ago'],
  ['2026-04-26T09:58:01.000Z', '1 min ago'],
  ['2026-04-26T07:10:00.000Z', '2 h ago'],
  ['2026-04-20T10:00:00.000Z', '6 d ago'],
  ['2026-05-26T10:00:00.000Z', 'in 30 d'],
  ['2025-04-26T10:00:00.000Z', '2025-04-26'],
  ['no instant', 'no instant'],
])('%s is %s', (iso, text) => {
  expect(relative(iso, now)).toBe(text)
})

test('only a terminal gets relative times, and what never was is empty', () => {
  const iso = '2026-04-26T09:59:55.000Z'
  expect(when({}, iso, now)).toBe(iso)
  expect(when({ columns: 80 }, iso, now)).toBe('5 s ago')
  expect(whenLong({ columns: 80 }, iso, now)).toBe(`${iso} (5 s ago)`)
  expect([when({}, null), when({ columns: 80 }, undefined), whenLong({}, null)]).toEqual(['', '', ''])
})
