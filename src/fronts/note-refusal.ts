import { toProblem } from '../errors.ts'
import type { Metrics } from '../metrics/metrics.ts'

/** Counts a failure that says that a limit is reached, by the name of the limit. Others are not counted. */
export function noteRefusal(metrics: Pick<Metrics, 'refused'>, error: unknown): void {
  const { code, status, extra } = toProblem(error)
  if (status !== 429 && code !== 'overloaded') return
  const name = extra.limitName ?? extra.limit
  metrics.refused(code, typeof name === 'string' ? name : undefined)
}
