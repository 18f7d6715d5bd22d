import { expect, test } from 'vitest'
import { shownJson } from '../../../src/fronts/mcp/shown-json.ts'
import { listedTasks } from '../../../src/fronts/mcp/tools/tasks.ts'

const room = { textBytes: 24_000, bytes: 64_000 }
const bytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

const task = (at: number, text: string) => ({
  id: `01a203fc-0000-7000-8000-${String(at).padStart(12, '0')}`,
  version: 1,
  state: 'submitted',
  originator: '@mike',
  assignee: '@donna',
  statusMessage: { text },
  metadata: { [text]: text, text },
  history: [{ text, parts: [{ data: { [text]: text } }] }],
})

test('what is said in one task hides no other of the list', () => {
  const large = 'x'.repeat(60_000)
  const tasks = listedTasks(Array.from({ length: 50 }, (_, at) => task(at, at === 49 ? 'small' : large)))
  const { value } = shownJson({ tasks }, room)
  const shown = value.tasks as { id: string; state: string; assignee: string }[]
  expect(shown.map(({ id }) => id)).toEqual(Array.from({ length: 50 }, (_, at) => task(at, '').id))
  expect(shown.at(-1)).toMatchObject({ state: 'submitted', assignee: '@donna', statusMessage: { text: 'small' } })
})

test('names of fields have room as texts have', () => {
  const named = Object.fromEntries(Array.from({ length: 64 }, (_, at) => [`${at}${'n'.repeat(100_000)}`, 1]))
  const { value, isCut } = shownJson({ parts: [{ data: named }] }, room)
  expect(isCut).toBe(true)
  expect(bytes(value)).toBeLessThan(70_000)
})
