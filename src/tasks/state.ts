import { Problem } from '../errors.ts'
import { isTerminal, type TaskState } from '../words/task-states.ts'

/** The roles of a task's parties. The operator has both of the first. An observer was the assignee before: it may read. Source: D18. */
export type TaskRole = 'assignee' | 'originator' | 'observer'

const outcomes = ['completed', 'failed', 'rejected'] as const
const questions = ['input-required', 'auth-required'] as const

/**
 * The moves that each role may make: the assignee works, the originator replies and cancels. A reply makes the task `submitted`
 * again, until the assignee takes it up. A move from `working` to `working` is a progress note.
 */
export const taskTransitions = {
  submitted: { assignee: ['working', ...questions, ...outcomes], originator: ['canceled'] },
  working: { assignee: ['working', ...questions, ...outcomes], originator: ['canceled'] },
  'input-required': { assignee: ['working', ...questions, ...outcomes], originator: ['submitted', 'canceled'] },
  'auth-required': { assignee: ['working', ...questions, ...outcomes], originator: ['submitted', 'canceled'] },
  completed: { assignee: [], originator: [] },
  failed: { assignee: [], originator: [] },
  canceled: { assignee: [], originator: [] },
  rejected: { assignee: [], originator: [] },
} as const satisfies Record<TaskState, Record<Exclude<TaskRole, 'observer'>, readonly TaskState[]>>

const interrupted: ReadonlySet<string> = new Set(questions)

export const isInterrupted = (state: TaskState): boolean => interrupted.has(state)

/** True when its originator has something to read: the task has ended, or its assignee asks. */
export const isSettled = (state: TaskState): boolean => isInterrupted(state) || isTerminal(state)

/** The states to which these roles may move a task. */
export function allowedMoves(from: TaskState, roles: readonly TaskRole[]): TaskState[] {
  return [
    ...new Set(roles.flatMap((role): readonly TaskState[] => (role === 'observer' ? [] : taskTransitions[from][role]))),
  ]
}

/** Throws `forbidden` when only the other party may make this move, `invalid-transition` when no party may. */
export function requireMove(from: TaskState, to: TaskState, roles: readonly TaskRole[]): void {
  const allowed = allowedMoves(from, roles)
  if (allowed.includes(to)) return
  if (allowedMoves(from, ['assignee', 'originator']).includes(to)) {
    const owner = allowedMoves(from, ['assignee']).includes(to) ? 'assignee' : 'originator'
    throw new Problem('forbidden', {
      field: 'to',
      detail: `to: only the ${owner} of a task may move it from ${from} to ${to}; you may move it to ${list(allowed)}.`,
      extra: { from, allowed },
    })
  }
  throw new Problem('invalid-transition', {
    field: 'to',
    detail: `to: a task that is ${from} cannot become ${to}; it can become ${list(allowed)}.`,
    extra: { from, allowed },
  })
}

function list(states: readonly TaskState[]): string {
  return states.length === 0 ? 'nothing else' : states.join(', ')
}
