import { type ApiAnswer, type ApiRequest, type CallApi, GatewayUnreachable } from '../../fronts/mcp/call-api.ts'
import { type Clock, sleep, systemClock } from '../../lib/clock.ts'

/** How long a wait continues while the gateway is unreachable: longer than a restart takes. */
const outageMax = 60_000
const againMs = 1_000
const earlyMs = 1_000

/** The time between two polls of a client, where the gateway holds them. A longer one means that it does not. */
const heldPollMs = 1_000

/**
 * Calls that wait, for mail or for the end of what is followed, survive a gateway that restarts: an answer that comes early and empty, and a
 * gateway that is away for a time after it was there, are no ends of the wait. A poll is held to its end, also where no gateway was there before.
 * All other calls pass. Errors: `GatewayUnreachable`, after the time or at once where no gateway was there before.
 */
export function withPatientWaits(call: CallApi, clock: Clock = systemClock): CallApi {
  let wasReached = false
  const tryOnce: CallApi = async (request, options) => {
    const answer = await call(request, options)
    wasReached = true
    return answer
  }
  return async (request, options) => {
    const seconds = Number(request.query?.waitSeconds ?? 0)
    if (!(seconds > 0)) return tryOnce(request, options)
    const endsAt = clock.now() + seconds * 1000
    const isPoll = request.path.startsWith('/v1/followers/')
    let awaySince: number | undefined
    for (;;) {
      const left = Math.max(0, endsAt - clock.now())
      const result = await tryOnce(waitingFor(request, left), options).catch((error: unknown) => {
        if ((wasReached || isPoll) && error instanceof GatewayUnreachable) return error
        throw error
      })
      const now = clock.now()
      if (isAway(result)) awaySince ??= now
      else if (isOver(result, endsAt - now)) return result
      else awaySince = undefined
      const isLong = awaySince !== undefined && (now - awaySince >= outageMax || (isPoll && now >= endsAt))
      if (isLong) return settled(result)
      await sleep(clock, againMs, options?.signal)
      options?.signal?.throwIfAborted()
    }
  }
}

function waitingFor(request: ApiRequest, ms: number): ApiRequest {
  return { ...request, query: { ...request.query, waitSeconds: String(Math.max(1, Math.round(ms / 1000))) } }
}

/** A gateway that stops answers 503, then none does. */
function isAway(result: ApiAnswer | Error): boolean {
  return result instanceof Error || result.status === 503
}

function isOver(result: ApiAnswer | Error, leftMs: number): result is ApiAnswer {
  if (result instanceof Error) return false
  const { pendingSignals, status = 'working', pollIntervalMs = heldPollMs } = result.body
  const hasMail = Array.isArray(pendingSignals) && pendingSignals.length > 0
  const hasEnd = status !== 'working' || Number(pollIntervalMs) > heldPollMs
  return result.status >= 400 || hasMail || hasEnd || leftMs <= earlyMs
}

function settled(result: ApiAnswer | Error): ApiAnswer {
  if (result instanceof Error) throw result
  return result
}
