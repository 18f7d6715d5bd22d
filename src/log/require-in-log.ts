import { Problem } from '../errors.ts'
import type { Reader } from '../storage/database.ts'
import { logBounds } from './event-store.ts'
import { leftOf } from './restored.ts'

/** A position in the log that a caller gave, and the words of its refusal. */
interface Position {
  readonly logId: number
  readonly field: string
  /** Of a position beyond the end: `the logId of the last event that you saw`. */
  readonly instead: string
  /** The remedy besides, where events are no longer kept: `, and read the current state from the tasks`. */
  readonly also?: string
}

/**
 * Requires that a position lies within the log of a project. Errors: `watermark-ahead` with the last position before it that there is,
 * `watermark-expired` with the earliest.
 */
export async function requireInLog(
  db: Reader,
  projectId: string,
  { logId, field, instead, also = '' }: Position,
): Promise<void> {
  const { head, prunedTo } = await logBounds(db, projectId)
  if (logId > head) throw ahead(field, head, `the log ends at ${head}. Send ${instead}.`)
  if (logId < prunedTo) {
    throw new Problem('watermark-expired', {
      field,
      detail: `${field}: events up to ${prunedTo} are no longer kept. Start from ${prunedTo}${also}.`,
      extra: { earliestLogId: prunedTo },
    })
  }
  const left = logId === prunedTo ? undefined : await leftOf(db, projectId, logId)
  if (left === undefined) return
  const last = Math.max(left, prunedTo)
  throw ahead(field, last, `a backup was restored, and event ${logId} is gone. Start from ${last}${also}.`)
}

const ahead = (field: string, lastLogId: number, what: string): Problem =>
  new Problem('watermark-ahead', { field, detail: `${field}: ${what}`, extra: { lastLogId } })
