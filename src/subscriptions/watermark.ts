import { Problem } from '../errors.ts'
import { lockLog, logBounds } from '../log/event-store.ts'
import type { Transaction } from '../storage/database.ts'

/**
 * Locks the log and requires that a watermark lies within it. Errors: `watermark-ahead`, `watermark-expired` with the earliest
 * watermark there is. Both name `field`.
 */
export async function requireWatermark(
  tx: Transaction,
  projectId: string,
  sinceLogId: number,
  field = 'sinceLogId',
): Promise<void> {
  await lockLog(tx, projectId)
  const { head, prunedTo } = await logBounds(tx, projectId)
  if (sinceLogId > head) {
    throw new Problem('watermark-ahead', {
      field,
      detail: `${field}: the log ends at ${head}. Send the logId of the last wake that you handled.`,
      extra: { lastLogId: head },
    })
  }
  if (sinceLogId < prunedTo) {
    throw new Problem('watermark-expired', {
      field,
      detail: `${field}: events up to ${prunedTo} are no longer kept. Start from ${prunedTo}, and read the current state from the tasks.`,
      extra: { earliestLogId: prunedTo },
    })
  }
}
