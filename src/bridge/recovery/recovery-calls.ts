import { Refused } from '../../client/failure.ts'
import type { AnswerOf, BodyOf, GatewayClient } from '../../client/gateway-client.ts'
import { clip, plain } from '../../client/terminal-text.ts'
import type { UsageLimit } from '../adapter.ts'

type ReportAnswer = AnswerOf<'PUT /v1/recovery/bridge'>

/** The report of a bridge about itself, for one agent. */
export type Account = BodyOf<'PUT /v1/recovery/bridge'>
/** An act that the gateway orders. `deadlineAt` in ms since the epoch. */
export type Order = Pick<NonNullable<ReportAnswer['order']>, 'epoch' | 'mode'> & { readonly deadlineAt: number }
/** The park of the agent at its gateway. `until` in ms since the epoch; null: until a person acts. */
export type Parked = Pick<NonNullable<ReportAnswer['parked']>, 'reason' | 'detail'> & { readonly until: number | null }

const timeoutMs = 10_000
const detailMax = 200

/** The calls of recovery, as the agent. Errors of all: `Refused`, `Unreachable`; an `Error` when an answer has no instant where one belongs. */
export class RecoveryCalls {
  readonly #gateway: GatewayClient

  constructor(gateway: GatewayClient) {
    this.#gateway = gateway
  }

  /** Reports the account. undefined: the gateway is of a version without recovery. */
  async account(
    body: Account,
    signal: AbortSignal,
  ): Promise<{ readonly order?: Order; readonly parked: Parked | null } | undefined> {
    const route = 'PUT /v1/recovery/bridge'
    const answer = await this.#gateway.call(route, { body, ...this.#transport(signal) }).catch(unlessStatus(404))
    if (answer === undefined) return undefined
    const { order, parked } = answer
    return {
      ...(order ? { order: { ...order, deadlineAt: instantOf(order.deadlineAt) } } : {}),
      parked: parked ? { ...parked, until: parked.until === null ? null : instantOf(parked.until) } : null,
    }
  }

  /** Parks the agent. A gateway without recovery does not know of it, and one that refuses it is not asked again. Returns whether it knows of it. */
  async park({ until, reason, detail = '' }: UsageLimit, signal: AbortSignal): Promise<boolean> {
    const said = clip(plain(detail), detailMax)
    const body = {
      until: until === null ? null : new Date(until).toISOString(),
      reason,
      ...(said ? { detail: said } : {}),
    }
    const parked = this.#gateway.call('PUT /v1/parked', { body, ...this.#transport(signal) })
    return (await parked.catch(unlessStatus(400, 404))) !== undefined
  }

  /** Begins an act. A text: why it may not begin. */
  async begin(epoch: number, signal: AbortSignal): Promise<{ readonly deadlineAt: number } | string> {
    try {
      const input = { body: { epoch }, ...this.#transport(signal) }
      const { deadlineAt } = await this.#gateway.call('POST /v1/recovery/acts', input)
      return { deadlineAt: instantOf(deadlineAt) }
    } catch (error) {
      if (!(error instanceof Refused) || error.problem.status !== 409) throw error
      return error.explanation
    }
  }

  /** Reports what became of an act. One that is over for the gateway needs no report. */
  async report(
    epoch: number,
    body: BodyOf<'POST /v1/recovery/acts/:epoch/report'>,
    signal: AbortSignal,
  ): Promise<void> {
    const input = { params: { epoch: String(epoch) }, body, ...this.#transport(signal) }
    await this.#gateway.call('POST /v1/recovery/acts/:epoch/report', input).catch(unlessStatus(404, 409))
  }

  #transport(signal: AbortSignal) {
    return { mail: 'none' as const, timeoutMs, signal }
  }
}

const unlessStatus =
  (...passed: readonly number[]) =>
  (error: unknown): undefined => {
    if (!(error instanceof Refused) || !passed.includes(Number(error.problem.status))) throw error
  }

/** An act without a deadline is not begun. Errors: the text is no instant. */
function instantOf(text: string): number {
  const at = Date.parse(text)
  if (Number.isNaN(at)) throw new Error(`The gateway has named no instant: ${text}`)
  return at
}
