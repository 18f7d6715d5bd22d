import { Problem } from '../errors.ts'
import type { Reader } from '../storage/database.ts'
import { historyRecent, loadTaskDocument } from './read-task.ts'
import type { TaskState } from './state.ts'
import type { Task } from './task.ts'

/**
 * The refusal of a change to a task that is not at the expected version. It carries the current task, read in the transaction
 * that found the conflict.
 * @param options.allowed the moves that the caller may choose from instead
 * @param options.viewer the project in whose words parties are named
 */
export async function versionConflict(
  db: Reader,
  current: Task,
  expectedVersion: number,
  { allowed, viewer }: { readonly allowed?: readonly TaskState[]; readonly viewer?: string } = {},
): Promise<Problem> {
  const document = await loadTaskDocument(db, current, { historyLength: historyRecent, viewer })
  const found = `expectedVersion: the task is at version ${current.version} (${current.state}), not ${expectedVersion}.`
  return new Problem('version-conflict', {
    field: 'expectedVersion',
    detail: allowed ? `${found} Read \`current\`, and decide again.` : found,
    extra: allowed ? { document, allowed } : { document },
  })
}
