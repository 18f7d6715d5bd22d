import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Problem } from '../../src/errors.ts'
import { allowedMoves, isInterrupted, requireMove, type TaskRole } from '../../src/tasks/state.ts'
import { isTerminal, type TaskState, taskStates } from '../../src/words/task-states.ts'

const work = 'working input-required auth-required completed failed rejected'
/** The whole table as a reader of the specification would write it: from, who, to. */
const table: [TaskState, TaskRole, string][] = [
  ['submitted', 'assignee', work],
  ['submitted', 'originator', 'canceled'],
  ['working', 'assignee', work],
  ['working', 'originator', 'canceled'],
  ['input-required', 'assignee', work],
  ['input-required', 'originator', 'submitted canceled'],
  ['auth-required', 'assignee', work],
  ['auth-required', 'originator', 'submitted canceled'],
  ...(['completed', 'failed', 'canceled', 'rejected'] as const).flatMap((state): [TaskState, TaskRole, string][] => [
    [state, 'assignee', ''],
    [state, 'originator', ''],
  ]),
]

test('the table names every state for each role', () => {
  expect(new Set(table.map(([from, role]) => `${from} ${role}`)).size).toBe(taskStates.length * 2)
})

test.each(table)('a task that is %s, in the hands of its %s, can become: %s', (from, role, to) => {
  const allowed = to.split(' ').filter(Boolean)
  expect([...allowedMoves(from, [role])].sort()).toEqual(allowed.sort())
  for (const target of taskStates) {
    const outcome = outcomeOf(from, target, [role])
    if (allowed.includes(target)) expect(outcome).toBe('moves')
    else {
      const elsewhere = table.some(([f, , t]) => f === from && t.split(' ').includes(target))
      expect(outcome).toBe(elsewhere ? 'forbidden' : 'invalid-transition')
    }
  }
})

test('a caller that is both may do what either may', () => {
  expect(allowedMoves('input-required', ['assignee', 'originator'])).toHaveLength(8)
  expect(outcomeOf('working', 'canceled', ['assignee', 'originator'])).toBe('moves')
})

test('a refusal names the current state and the allowed ones', () => {
  expect(() => requireMove('completed', 'working', ['assignee'])).toThrow(
    expect.objectContaining({ code: 'invalid-transition', field: 'to', extra: { from: 'completed', allowed: [] } }),
  )
  expect(() => requireMove('working', 'canceled', ['assignee'])).toThrow(/only the originator/)
})

test('whatever legal moves are made, a finished task never moves again', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(), { maxLength: 40 }), (choices) => {
      let state: TaskState = 'submitted'
      for (const choice of choices) {
        const moves = allowedMoves(state, ['assignee', 'originator'])
        if (isTerminal(state)) return moves.length === 0
        state = moves[choice % moves.length]!
      }
      return taskStates.includes(state) && !(isTerminal(state) && isInterrupted(state))
    }),
  )
})

function outcomeOf(from: TaskState, to: TaskState, roles: TaskRole[]): string {
  try {
    requireMove(from, to, roles)
    return 'moves'
  } catch (error) {
    return error instanceof Problem ? error.code : 'broken'
  }
}
