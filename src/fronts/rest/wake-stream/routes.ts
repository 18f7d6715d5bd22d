import { type RecordedReceipt, reportReceipts } from '../../../wake-stream/report.ts'
import { route } from '../route.ts'
import { receiptsInput, wakeStreamQuery } from './input.ts'
import { streamWakes, type WakeStreamFrontContext } from './stream.ts'

/** What became of the receipts of one request, in its order. */
export interface ReceiptsView {
  readonly receipts: readonly RecordedReceipt[]
}

/** `/v1/wake-stream`: wakes that their receiver fetches, and what it reports about them. */
export const wakeStreamRoutes = [
  route('GET /v1/wake-stream', {
    name: 'wake_stream.open',
    what: 'read wakes as a stream',
    access: { scope: 'work', operator: 'any', agent: 'own', peer: 'never', audited: 'first' },
    query: wakeStreamQuery,
    handle: ({ caller, req, res, query }, context: WakeStreamFrontContext) =>
      streamWakes(context, caller, { req, res }, query),
  }),
  route('POST /v1/wake-stream/receipts', {
    name: 'wake_stream.report',
    what: 'report on wakes',
    access: { scope: 'work', operator: 'any', agent: 'own', peer: 'never', audited: 'no' },
    body: receiptsInput,
    handle: async ({ caller, body }, { wakeStreams }: WakeStreamFrontContext): Promise<ReceiptsView> => ({
      receipts: await reportReceipts(wakeStreams, caller, body),
    }),
  }),
] as const
