import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { loggedEvents } from './events.ts'

const page = readFileSync(new URL('../../docs/operations/log.md', import.meta.url), 'utf8')

/** The rows of the table of events: each event with the levels of its second column. */
function listedEvents(): Map<string, string> {
  const [, table = ''] = page.split('## Every event\n')
  const rows = [...table.matchAll(/^\| `([a-z0-9_]+\.[a-z_]+)` +\| ([a-z, ]+?) +\|/gm)]
  return new Map(rows.map(([, event = '', levels = '']) => [event, levels]))
}

test('docs/operations/log.md lists every event that the code logs, and no other', () => {
  const logged = [...loggedEvents().keys()].sort()
  expect(logged.length).toBeGreaterThan(50)
  expect([...listedEvents().keys()].sort()).toEqual(logged)
})

test('each with the levels at which it is logged', () => {
  const listed = listedEvents()
  const wrong = [...loggedEvents()].filter(
    ([event, levels]) => !levels.has('as it comes') && [...levels].sort().join(', ') !== listed.get(event),
  )
  expect(wrong.map(([event, levels]) => `${event}: ${[...levels].sort().join(', ')}`)).toEqual([])
})

test('names are dotted: what it is about, and what happened', () => {
  for (const event of loggedEvents().keys()) expect(event).toMatch(/^[a-z0-9_]+\.[a-z_]+$/)
})
