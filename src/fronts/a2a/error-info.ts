import type { Problem } from '../../errors.ts'

/** The limits on sending share one reason; the ErrorInfo's metadata has the code. Source: D22. */
const mailLimits: ReadonlySet<string> = new Set(['rate-limited', 'storm-breaker', 'recipient-storm'])

/** The reason of a problem's google.rpc.ErrorInfo. */
export function reasonOf(problem: Problem): string {
  if (problem.field === 'A2A-Version') return 'VERSION_NOT_SUPPORTED'
  if (mailLimits.has(problem.code)) return 'RATE_LIMITED'
  return problem.code.toUpperCase().replaceAll('-', '_')
}

/**
 * The metadata of a problem's google.rpc.ErrorInfo, whose values are strings: the same on every binding. `limitName` always names
 * a limit that is reached; of a rate `limit` is the number.
 */
export function metadataOf(problem: Problem): Record<string, string> {
  const metadata: Record<string, string> = { code: problem.code }
  if (problem.field) metadata.field = problem.field
  for (const [key, value] of Object.entries(problem.extra)) {
    if (typeof value === 'string' || typeof value === 'number') metadata[key] = String(value)
  }
  const { limit } = problem.extra
  if (typeof limit === 'string') metadata.limitName ??= limit
  return metadata
}
