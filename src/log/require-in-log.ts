import { Problem } from '../errors.ts'

/** A position in the log that a caller gave, and the words of its refusal. */
interface Position {
  readonly logId: number
  readonly field: string
  /** Of a position beyond the end: `the logId of the last event that you saw`. */
  readonly instead: string
  /** The remedy besides, where events are no longer kept: `, and read the current state from the tasks`. */
  readonly also?: string
}

/** Requires that a position lies within a log. Errors: `watermark-ahead`, `watermark-expired` with the earliest position there is. */
export function requireInLog(
  { head, prunedTo }: { readonly head: number; readonly prunedTo: number },
  { logId, field, instead, also = '' }: Position,
): void {
  if (logId > head) {
    throw new Problem('watermark-ahead', {
      field,
      detail: `${field}: the log ends at ${head}. Send ${instead}.`,
      extra: { lastLogId: head },
    })
  }
  if (logId < prunedTo) {
    throw new Problem('watermark-expired', {
      field,
      detail: `${field}: events up to ${prunedTo} are no longer kept. Start from ${prunedTo}${also}.`,
      extra: { earliestLogId: prunedTo },
    })
  }
}
