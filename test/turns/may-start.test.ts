import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { mayStart } from '../../src/turns/may-start.ts'
import { rulesTable } from './rules-table.ts'

const hour = 3_600_000
const now = Date.parse('2026-04-26T10:00:00.000Z')
const parked = { since: now - hour, until: now + hour, isOpen: false, reason: 'usage-limit', detail: null } as const

test('docs/recovery.md shows the rules as they are', () => {
  const page = readFileSync(new URL('../../docs/recovery.md', import.meta.url), 'utf8')
  expect(page).toContain(rulesTable())
})

// D50
test.each([
  ['nothing is against it', { parked: null }, {}, 'start'],
  ['its agent is at a limit', { parked }, {}, 'wait usage_limit 1 h'],
  ['the limit is over', { parked: { ...parked, until: now } }, {}, 'start'],
  ['a cap is reached', { parked: null }, { cap: { cap: 'sender', until: now + hour } }, 'withhold turn_cap 1 h'],
] as const)('a wake where %s', (_, recovery, facts, expected) => {
  const verdict = mayStart('wake', { now, recovery, ...facts })
  const said = 'rule' in verdict ? ` ${verdict.rule} ${(verdict.until! - now) / hour} h` : ''
  expect(verdict.answer + said).toBe(expected)
})

test('a run for mail that another program has taken never starts; a wake of it does', () => {
  const facts = { now, recovery: { parked: null }, isTaken: true }
  expect(mayStart('run', facts)).toMatchObject({ answer: 'never', rule: 'already_taken' })
  expect(mayStart('wake', facts)).toEqual({ answer: 'start' })
})
