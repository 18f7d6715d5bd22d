import { Problem } from '../../../errors.ts'
import type { Task, TaskDocument } from '../../../tasks/task.ts'
import { VersionConflict } from '../../../tasks/version-conflict.ts'
import { taskView } from './view.ts'

/**
 * The version that a move is based on, from the body or from `If-Match`. Errors: `version-required`, and `invalid-request` where
 * the two differ.
 */
export function requireVersion(ifMatch: string | undefined, expectedVersion: number | undefined): number {
  if (ifMatch === undefined) {
    if (expectedVersion !== undefined) return expectedVersion
    throw new Problem('version-required', {
      field: 'expectedVersion',
      detail:
        'expectedVersion: send the version of the task that you have read, in the body or as If-Match: "<version>".',
    })
  }
  const match = /^\s*(?:W\/)?"(\d+)"\s*$/.exec(ifMatch)
  const version = match ? Number(match[1]) : undefined
  if (version === undefined || (expectedVersion !== undefined && expectedVersion !== version)) {
    throw new Problem('invalid-request', {
      field: 'If-Match',
      detail:
        'If-Match: send the task\'s ETag as it is, e.g. If-Match: "3", and the same number as expectedVersion if you send both.',
    })
  }
  return version
}

/**
 * Adds the current task to the problem of a version conflict.
 * @param load reads the task as the conflict found it
 */
export async function withCurrent<T>(act: () => Promise<T>, load: (task: Task) => Promise<TaskDocument>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    if (!(error instanceof VersionConflict)) throw error
    const { code, message: detail, extra, current } = error
    throw new Problem(code, {
      detail,
      ...(error.field === undefined ? {} : { field: error.field }),
      extra: { ...extra, current: taskView(await load(current)) },
    })
  }
}
