import type { JsonObject } from '../../lib/json.ts'
import { isHidden } from '../failure.ts'
import type { GatewayClient } from '../gateway-client.ts'
import type { AnswerOf } from '../route-types.ts'

/** The answer of the gateway to a program that wants to begin a turn, or to start a process, for a wake. */
export interface AskedTurn {
  /** The rule that is against it; undefined: it is booked, and may begin. */
  readonly against?: AnswerOf<'POST /v1/turns'> | undefined
  /** Reports how the turn ended; only the first report counts. Never rejects: the account then records that nobody knows. */
  end(outcome: TurnEnd['outcome'], detail?: string): Promise<void>
}

/** The end of a turn. */
interface TurnEnd extends JsonObject {
  readonly outcome: 'completed' | 'failed' | 'held' | 'unknown'
}

const timeoutMs = 10_000
const detailMax = 200

/**
 * Asks whether a turn may begin, and books it: call it immediately before anything that begins one. A gateway without this question lets it
 * begin. Rejects when the gateway cannot be reached. Source: D53.
 */
export async function askForTurn(
  gateway: GatewayClient,
  eventId: string,
  route: string,
  { signal, agent }: { readonly signal?: AbortSignal | undefined; readonly agent?: string | undefined } = {},
): Promise<AskedTurn> {
  const whose = agent === undefined ? {} : { agent }
  const call = { mail: 'none', timeoutMs } as const
  const answer = await gateway
    .call('POST /v1/turns', { body: { eventId, route, ...whose }, ...call, ...(signal ? { signal } : {}) })
    .catch((error: unknown) => {
      if (!isHidden(error)) throw error
    })
  let id = answer?.turnId ?? undefined
  return {
    against: answer && answer.answer !== 'start' ? answer : undefined,
    async end(outcome, detail) {
      if (id === undefined) return
      const params = { id }
      id = undefined
      const body = { outcome, ...whose, ...(detail === undefined ? {} : { detail: detail.slice(0, detailMax) }) }
      await gateway.call('POST /v1/turns/:id/end', { params, body, ...call }).catch(() => {})
    },
  }
}
