import { randomUUID } from 'node:crypto'
import { type ApprovalRecord, awaitDecision, closeRecord, openRecord } from '../../bridge/approvals/record.ts'
import type { GatewayClient } from '../../client/gateway-client.ts'
import { conversationOf, turnOf } from '../../harnesses/conversation.ts'
import { approvalSeconds } from '../../harnesses/entries.ts'
import type { JsonObject } from '../../lib/json.ts'
import { within } from '../../lib/within.ts'
import { inputHashOf } from '../../words/approvals.ts'
import type { Hook } from './run-hook.ts'

/** The harness ends its hook after `approvalSeconds`: the record ends before, and this program between the two. */
const spareSeconds = { record: 20, program: 10 } as const
/** The time for closing a record after SIGTERM, in ms. */
const closeMsMax = 1_000
/** The newest answers that an event may be about. */
const answeredMax = 20

/**
 * Holds the request of a harness open for a person at the gateway, beside the dialog of the harness. Calls `give` with the output that gives their
 * answer. Errors: the gateway takes no request; `stopped` aborts: the record is withdrawn, or the answer was too late.
 */
export async function holdRequest(
  { harness, input }: Hook,
  gateway: GatewayClient,
  stopped: AbortSignal,
  give: (output: JsonObject) => Promise<void>,
): Promise<void> {
  const approvals = harness?.hooks?.approvals
  const request = approvals?.requestIn(input)
  if (!approvals || !request) return
  const nonce = `${turnOf(input).activeTurnId ?? ''}:${randomUUID()}`
  const expiresInSeconds = approvalSeconds - spareSeconds.record
  using life = within((approvalSeconds - spareSeconds.program) * 1_000, stopped)
  const recorded = { ...request, harness: harness!.id, nonce, expiresInSeconds }
  let record: ApprovalRecord | undefined
  try {
    record = await openRecord(gateway, recorded, life.signal)
    const decision = await awaitDecision(gateway, record, life.signal)
    const output = decision && approvals.output(request, decision)
    if (output) await give(output)
  } finally {
    if (stopped.aborted) {
      using late = within(closeMsMax)
      // It may be there without our having its id: the same nonce finds it.
      record ??= await openRecord(gateway, recorded, late.signal)
      await closeRecord(gateway, record.id, { state: 'withdrawn' }, late.signal)
    }
  }
}

/**
 * Closes the records of requests that an event shows to be answered, and notes what the harness did with the answers of a person: `one`, the
 * request in the event, was allowed; of `all` others nothing is open. Returns how many were closed. Errors: of the gateway.
 */
export async function settleRequests(
  { harness, input }: Hook,
  part: 'one' | 'all',
  gateway: GatewayClient,
): Promise<number> {
  const conversationId = conversationOf(input).harness?.sessionId
  const request = part === 'one' ? harness?.hooks?.approvals?.requestIn(input) : undefined
  if (!harness || conversationId === undefined || (part === 'one' && !request)) return 0
  const step = request && { tool: request.tool, input: request.input }
  const body = { harness: harness.id, conversationId, ...step }
  const { closed } = await gateway.call('POST /v1/approvals/settle', { body, mail: 'none' })
  // The person at the harness has answered that one.
  if (request && closed > 0) return closed
  const query = { conversationId, state: 'answered', limit: answeredMax } as const
  const { approvals } = await gateway.call('GET /v1/approvals', { query, mail: 'none' })
  const hash = request && inputHashOf({ ...request, harness: harness.id })
  const denied = approvals.filter(({ decision }) => decision?.answer === 'deny')
  const meant = hash === undefined ? denied : approvals.filter(({ inputHash }) => inputHash === hash).slice(0, 1)
  for (const { approvalId, outcome, decision } of meant) {
    if (outcome !== null) continue
    const isLate = request !== undefined && decision?.answer === 'deny'
    const said = { outcome: isLate ? 'late' : 'taken' } as const
    await gateway.call('POST /v1/approvals/:id/close', { params: { id: approvalId }, body: said, mail: 'none' })
  }
  return closed
}
