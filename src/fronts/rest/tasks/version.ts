import { Problem } from '../../../errors.ts'
import type { TaskDocument } from '../../../tasks/task.ts'
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

/** Adds the current task to the problem of a version conflict. */
export async function withCurrent<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    if (!(error instanceof Problem) || error.extra.document === undefined) throw error
    const { document, ...extra } = error.extra
    throw new Problem(error.code, {
      detail: error.message,
      ...(error.field === undefined ? {} : { field: error.field }),
      extra: { ...extra, current: taskView(document as TaskDocument) },
    })
  }
}
