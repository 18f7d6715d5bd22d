import { expect, test } from 'vitest'
import { resolveId } from '../../../src/cli/ids/own-ids.ts'

const a = 'MESSAGE:01a20092-9da5-7c6f-a1a7-251794eeca73'
const b = 'MESSAGE:01a20092-9da6-7c6f-a1a7-251794ee0000'
const list = async () => [
  { id: a, about: '@boss · Build' },
  { id: b, about: '@mike · Docs' },
  { id: a, about: 'the same again' },
]
const never = () => Promise.reject(new Error('It read a list.'))

test.each([
  [a, a],
  ['01a20092-9da5-7c6f-a1a7-251794eeca73', a],
  ['session_01a20092-9da5-7c6f-a1a7-251794eeca73', 'session_01a20092-9da5-7c6f-a1a7-251794eeca73'],
  ['01J9ZK4R8Q6W2T5X7Y0B3C1D2E', '01J9ZK4R8Q6W2T5X7Y0B3C1D2E'],
  ['abc', 'abc'],
  ['', ''],
])('a whole id, and what is too short to mean one, is looked up nowhere: %s', async (given, id) => {
  expect(await resolveId(given, 'MESSAGE:', never)).toBe(id)
})

test.each([
  ['MESSAGE:01a20092-9da5', a],
  ['01a20092-9da6', b],
  ['01A20092-9DA6', b],
  ['01a20092-9da5…', a],
  ['01a20092-9da5...', a],
  ['ca73', a],
  ['ffff', 'ffff'],
])('%s means %s', async (given, id) => {
  expect(await resolveId(given, 'MESSAGE:', list)).toBe(id)
})

test('an abbreviation of several lists them; a whole id that others begin with is itself', async () => {
  await expect(resolveId('01a2', 'MESSAGE:', list)).rejects.toThrow(
    `"01a2" means 2 of them. Give more of the id:\n  ${a}  the same again\n  ${b}  @mike · Docs`,
  )
  const many = Array.from({ length: 30 }, (_, n) => ({ id: `task-${n}`, about: '' }))
  await expect(resolveId('task', '', async () => many)).rejects.toThrow('and 20 more')
  expect(await resolveId('task-1', '', async () => many)).toBe('task-1')
})
