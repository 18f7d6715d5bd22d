import { Problem } from '../errors.ts'
import type { TaskState } from '../words/task-states.ts'
import type { Task } from './task.ts'

/**
 * The refusal of a change to a task that is not at the expected version: `version-conflict`. An answer may show the task as the
 * transaction found it: its content is read after the transaction, because it may be large.
 */
export class VersionConflict extends Problem {
  readonly current: Task

  /** @param allowed the moves that the caller may choose from instead */
  constructor(current: Task, expectedVersion: number, allowed?: readonly TaskState[]) {
    super('version-conflict', {
      field: 'expectedVersion',
      detail: `expectedVersion: the task is at version ${current.version} (${current.state}), not ${expectedVersion}.`,
      ...(allowed && { remedy: 'decide-again', extra: { allowed } }),
    })
    this.current = current
  }
}
