import type { Caller } from '../../../registry/callers/caller.ts'
import type { Shares } from '../../../registry/shares/shares.ts'
import type { WakeStreamContext } from '../../../wake-stream/context.ts'
import { type ReceiptInput, type RecordedReceipt, reportReceipts } from '../../../wake-stream/report.ts'
import { furtherOfReport } from '../../../wake-stream/report-cost.ts'

/** What a report needs, whichever way it comes. */
export interface ReportContext {
  readonly wakeStreams: WakeStreamContext
  readonly shares: Pick<Shares, 'spendFurther' | 'paceFurther'>
}

/** Records receipts. Many in one report count as several requests of their caller. Errors: `rate-limited`. */
export async function countedReport(
  { wakeStreams, shares }: ReportContext,
  caller: Caller,
  receipts: readonly ReceiptInput[],
): Promise<RecordedReceipt[]> {
  const further = furtherOfReport(receipts.length)
  if (further > 0) {
    shares.spendFurther(caller, further)
    shares.paceFurther(caller, further)
  }
  return reportReceipts(wakeStreams, caller, receipts)
}
