import type { Caller } from '../../../registry/callers/caller.ts'
import { type ReceiptInput, type RecordedReceipt, reportReceipts } from '../../../wake-stream/report.ts'
import type { FrontContext } from '../../front-context.ts'

/** So many receipts cost the gateway as much as one small request: each is looked up, and most are written. */
const receiptsOfOne = 10

/** Records receipts. Many in one report count as several requests of their caller. Errors: `rate-limited`. */
export async function countedReport(
  { wakeStreams, admission }: FrontContext,
  caller: Caller,
  receipts: readonly ReceiptInput[],
): Promise<RecordedReceipt[]> {
  const further = furtherOfReport(receipts.length)
  if (further > 0) admission.spend(caller, 'requestsPerMinute', '', further)
  return reportReceipts(wakeStreams, caller, receipts)
}

/** Returns how many requests a report counts as, beside the one that it is. Pure. */
export function furtherOfReport(receipts: number): number {
  return Math.floor(receipts / receiptsOfOne)
}
