import { Problem } from '../../../errors.ts'
import type { RecordedReceipt } from '../../../wake-stream/report.ts'
import { type HttpExchange, route } from '../route.ts'
import { receiptsInput, wakeStreamQuery } from './input.ts'
import { countedReport } from './report-receipts.ts'
import { streamWakes } from './stream.ts'

/** The outcome of the receipts of one request, in its order. */
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
    handle: ({ caller, http, query }, context) => streamWakes(context, caller, requireHttp(http), query),
  }),
  route('POST /v1/wake-stream/receipts', {
    name: 'wake_stream.report',
    what: 'report on wakes',
    access: { scope: 'work', operator: 'any', agent: 'own', peer: 'never', audited: 'no' },
    body: receiptsInput,
    handle: async ({ caller, body }, context): Promise<ReceiptsView> => ({
      receipts: await countedReport(context, caller, body),
    }),
  }),
] as const

function requireHttp(http: HttpExchange | undefined): HttpExchange {
  if (http) return http
  throw new Problem('invalid-request', { detail: 'Wakes are a stream over HTTP.' })
}
