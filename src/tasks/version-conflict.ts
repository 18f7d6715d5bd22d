import { Problem } from '../errors.ts'
import type { Reader } from '../storage/database.ts'
import { historyRecent, loadTaskDocument } from './read-task.ts'
import type { TaskState } from './state.ts'
import type { Task } from './task.ts'

/**
 * The refusal of a change to a task that is not at the expected version. It carries the current task, read in the transaction
 * that found the conflict.
 * @param allowed the moves that the caller may choose from instead
 */
export async function versionConflict(
  db: Reader,
  current: Task,
  expectedVersion: number,
  allowed?: readonly TaskState[],
): Promise<Problem> {
  const document = await loadTaskDocument(db, current, { historyLength: historyRecent })
  const found = `expectedVersion: the task is at version ${current.version} (${current.state}), not ${expectedVersion}.`
  return new Problem('version-conflict', {
    field: 'expectedVersion',
    detail: allowed ? `${found} Read \`current\`, and decide again.` : found,
    extra: allowed ? { document, allowed } : { document },
  })
}
