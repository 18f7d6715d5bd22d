import { lockLog } from '../log/event-store.ts'
import { requireInLog } from '../log/require-in-log.ts'
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
  await requireInLog(tx, projectId, {
    logId: sinceLogId,
    field,
    instead: 'the logId of the last wake that you handled',
    also: ', and read the current state from the tasks',
  })
}
