export const taskStates = [
  'submitted',
  'working',
  'input-required',
  'auth-required',
  'completed',
  'failed',
  'canceled',
  'rejected',
] as const
/** A2A's task states in lower case, as tasks and the events about them name them (specification §4.1.3, D7). */
export type TaskState = (typeof taskStates)[number]

const terminal: ReadonlySet<string> = new Set<TaskState>(['completed', 'failed', 'canceled', 'rejected'])

/** True when a task in this state never changes again. */
export const isTerminal = (state: TaskState): boolean => terminal.has(state)
