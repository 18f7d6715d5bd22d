import { Refused } from '../../client/failure.ts'
import type { BodyOf, GatewayClient } from '../../client/gateway-client.ts'
import { mayPass } from '../../client/wakes/streamed-wakes.ts'
import { BackOff } from '../../lib/back-off.ts'
import { sleep, systemClock } from '../../lib/clock.ts'
import { inputHashOf } from '../../words/approvals.ts'
import type { Decision, UserRequest } from '../adapter.ts'

const retryMs = { first: 250, max: 5_000 } as const
/** Of a round of waiting. The gateway answers before. */
const roundSeconds = 50
const shortMs = 1_000
const timeoutMs = 10_000
const lengthMax = { reason: 2_000, line: 1_000 } as const

/** A request, as one harness has made it. */
interface RecordedRequest extends UserRequest {
  readonly nonce: string
  readonly harness: string
  readonly expiresInSeconds: number
}

/** The record of a request at the gateway. */
export interface ApprovalRecord {
  readonly id: string
  /** Of what the harness has asked, as this program knows it. */
  readonly inputHash: string
}

/**
 * Makes the record of a request, also while the gateway starts again. Errors: `Refused`: it takes none; the gateway says something else than was
 * asked; the signal aborts.
 */
export async function openRecord(
  gateway: GatewayClient,
  { reason, cwd, mode, ...request }: RecordedRequest,
  signal: AbortSignal,
): Promise<ApprovalRecord> {
  const inputHash = inputHashOf(request)
  const body: BodyOf<'POST /v1/approvals'> = {
    ...request,
    ...(reason ? { reason: reason.slice(0, lengthMax.reason).toWellFormed() } : {}),
    ...(cwd && cwd.length <= lengthMax.line ? { cwd } : {}),
    ...(mode ? { mode } : {}),
  }
  const view = await untilAnswered(signal, () =>
    gateway.call('POST /v1/approvals', { body, mail: 'none', signal, timeoutMs }),
  )
  if (view.inputHash !== inputHash) throw new Error('the gateway has noted another request')
  return { id: view.approvalId, inputHash }
}

/**
 * Waits until a record is closed, in rounds, also while the gateway starts again. Returns the answer of a person to exactly this request;
 * undefined: there is none. Errors: `Refused`; the signal aborts.
 */
export async function awaitDecision(
  gateway: GatewayClient,
  { id, inputHash }: ApprovalRecord,
  signal: AbortSignal,
): Promise<Decision | undefined> {
  for (;;) {
    const from = performance.now()
    const { state, decision, ...view } = await untilAnswered(signal, () =>
      gateway.call('GET /v1/approvals/:id', {
        params: { id },
        query: { waitSeconds: roundSeconds },
        mail: 'none',
        signal,
      }),
    )
    if (state !== 'open') return state === 'answered' && view.inputHash === inputHash ? decisionOf(decision) : undefined
    // A gateway that cannot hold a call answers at once.
    if (performance.now() - from < shortMs) await sleep(systemClock, shortMs, signal)
  }
}

/** The end of a request: how it ended without our answer, or what the harness did with ours. */
export type Closing = { readonly state: 'answered_there' | 'withdrawn' } | { readonly outcome: 'taken' | 'late' }

/** Closes a record, until the gateway has it or the signal aborts. If a person has answered meanwhile, that was too late. Never rejects. */
export async function closeRecord(
  gateway: GatewayClient,
  id: string,
  closing: Closing,
  signal: AbortSignal,
): Promise<void> {
  const close = (body: Closing) =>
    untilAnswered(signal, () =>
      gateway.call('POST /v1/approvals/:id/close', { params: { id }, body, mail: 'none', signal, timeoutMs }),
    )
  await close(closing)
    .catch((error: unknown) =>
      'state' in closing && error instanceof Refused ? close({ outcome: 'late' }) : undefined,
    )
    .catch(() => undefined)
}

/** Asks until the gateway answers. Errors: `Refused`, unless it passes; the signal aborts. */
export async function untilAnswered<Answer>(signal: AbortSignal, ask: () => Promise<Answer>): Promise<Answer> {
  const backOff = new BackOff(retryMs)
  for (;;) {
    try {
      return await ask()
    } catch (error) {
      signal.throwIfAborted()
      if (!mayPass(error)) throw error
      await backOff.pause(signal)
      signal.throwIfAborted()
    }
  }
}

interface DecisionView {
  readonly answer: string
  readonly message: string | null
  readonly answers: Readonly<Record<string, string>> | null
}

function decisionOf(view: DecisionView | null): Decision | undefined {
  switch (view?.answer) {
    case 'once':
      return { answer: 'once' }
    case 'deny':
      return { answer: 'deny', ...(view.message ? { message: view.message } : {}) }
    case 'answer':
      return view.answers ? { answer: 'answer', answers: view.answers } : undefined
    default:
      return undefined
  }
}
