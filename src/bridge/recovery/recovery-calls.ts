import { z } from 'zod'
import { Refused } from '../../client/failure.ts'
import type { GatewayClient } from '../../client/gateway-client.ts'
import { clip, plain } from '../../client/terminal-text.ts'
import type { UsageLimit } from '../adapter.ts'
import type { StartOutcome } from '../journal/start-records.ts'

const instant = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text))
const parked = z.object({
  until: instant.nullable(),
  reason: z.string().max(100),
  detail: z.string().max(500).optional(),
})
const order = z.object({ epoch: z.int().positive(), mode: z.string(), deadlineAt: instant })
const heard = z.object({ order: order.nullish(), parked: parked.nullish() })
const begun = z.object({ deadlineAt: instant })

export type Order = z.infer<typeof order>
/** The answer of the gateway to a report. */
type Heard = z.infer<typeof heard>
export type Parked = z.infer<typeof parked>

/** The report of a bridge about itself, for one agent. */
export interface Account {
  readonly startedAt: string
  readonly starts: number
  readonly lastAcceptAt?: string
  readonly lastSweepAt?: string
  readonly late?: readonly { readonly step: string; readonly count: number }[]
  /** Its recipe for the agent. */
  readonly restart: 'none' | 'unproven' | 'proven'
  readonly harness?: string
  /** The process of the harness that it sees now. */
  readonly process?: { readonly pid: number; readonly startedAt: string }
  /** A conversation of the agent is open here. */
  readonly seen: boolean
}

/** The outcome of an act. */
interface Outcome {
  readonly outcome: StartOutcome
  readonly pid?: number
  readonly startedAt?: string
  readonly detail?: string
}

const timeoutMs = 10_000
const detailMax = 200

/** The calls of recovery, as the agent. Errors of all: `Refused`, `Unreachable`; an answer of another form is a `ZodError`. */
export class RecoveryCalls {
  readonly #gateway: GatewayClient

  constructor(gateway: GatewayClient) {
    this.#gateway = gateway
  }

  /** undefined: the gateway is of a version without recovery. */
  async account(body: Account, signal: AbortSignal): Promise<Heard | undefined> {
    const answer = await this.#put('/v1/recovery/bridge', body, signal)
    return answer && heard.parse(answer)
  }

  /** Parks the agent. A gateway without recovery does not know of it, and one that refuses it is not asked again. Returns whether it knows of it. */
  async park({ until, reason, detail = '' }: UsageLimit, signal: AbortSignal): Promise<boolean> {
    const said = clip(plain(detail), detailMax)
    const body = {
      until: until === null ? null : new Date(until).toISOString(),
      reason,
      ...(said ? { detail: said } : {}),
    }
    try {
      return (await this.#put('/v1/parked', body, signal)) !== undefined
    } catch (error) {
      if (error instanceof Refused && error.problem.status === 400) return false
      throw error
    }
  }

  /** Begins an act. A text: why it may not begin. */
  async begin(epoch: number, signal: AbortSignal): Promise<{ readonly deadlineAt: number } | string> {
    try {
      return begun.parse(await this.#request('POST', '/v1/recovery/acts', { epoch }, signal))
    } catch (error) {
      if (!(error instanceof Refused) || error.problem.status !== 409) throw error
      return error.explanation
    }
  }

  /** Reports what became of an act. One that is over for the gateway needs no report. */
  async report(epoch: number, body: Outcome, signal: AbortSignal): Promise<void> {
    try {
      await this.#request('POST', `/v1/recovery/acts/${epoch}/report`, body, signal)
    } catch (error) {
      if (!(error instanceof Refused) || ![404, 409].includes(Number(error.problem.status))) throw error
    }
  }

  async #put(path: string, body: object, signal: AbortSignal): Promise<object | undefined> {
    try {
      return await this.#request('PUT', path, body, signal)
    } catch (error) {
      if (error instanceof Refused && error.problem.status === 404) return undefined
      throw error
    }
  }

  #request(method: string, path: string, body: object, signal: AbortSignal): Promise<object> {
    return this.#gateway.request(method, path, { body, mail: 'none', timeoutMs, signal })
  }
}
