import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { type Clock, steadyClock } from '../../lib/clock.ts'
import { newRequestIds } from '../../lib/request-ids.ts'
import { TokenBuckets } from '../../lib/token-buckets.ts'
import { isShown, type Logger } from '../../logger/logger.ts'
import type { Agent } from '../../registry/agents/agent.ts'
import type { Caller } from '../../registry/callers/caller.ts'
import type { A2aOperation } from '../access/a2a-operations.ts'
import type { RestOperation } from '../access/operation.ts'

const requestIdHeader = 'X-Request-Id'

/** The id of the request that is answered. */
export function requestIdOf(res: ServerResponse): unknown {
  return res.getHeader(requestIdHeader)
}

/** The parts of an answer that the log records. */
interface AnswerSummary {
  readonly isRead: boolean
  /** Undefined: it succeeded. */
  readonly problem: string | undefined
  /** The fault is the gateway's. */
  readonly isFault: boolean
  readonly caller: Caller | undefined
}

/** Decides the log levels of requests. */
export class LineLevels {
  readonly #clock: Clock
  readonly #refused = new TokenBuckets(10_000)

  constructor(clock: Clock = steadyClock) {
    this.#clock = clock
  }

  /**
   * Returns the level of a request. Requests that changed something or failed are `info`. Requests that only read, and those of callers
   * without a valid key, are `debug`: `auth.failed` and the audit count the latter. So are refusals of one agent beyond a rate, which would fill
   * the disk.
   */
  of({ isRead, problem, isFault, caller }: AnswerSummary): 'info' | 'debug' {
    if (caller === undefined) return 'debug'
    if (problem === undefined) return isRead ? 'debug' : 'info'
    if (isFault) return 'info'
    const waitMs = this.#refused.spend(caller.id, refusedLines, this.#clock.now())
    return waitMs > 0 ? 'debug' : 'info'
  }
}

/** Lines at the level `info` about refused requests of one caller. */
const refusedLines = { size: 300, windowMs: 60_000 }

/** The notes of the handlers of a request. Nothing, when it was refused before them. */
interface Noted {
  readonly caller?: Caller
  readonly agent?: Agent
  readonly operation?: A2aOperation | RestOperation
  /** The route of a request without an operation: `GET /readyz`. */
  readonly route?: string
  readonly problem?: string
  /** The A2A call that the request was. */
  readonly call?: { readonly problem: string | undefined }
}

/** Gives every request an id, which its answer carries, and writes one line when it has been answered. */
export function logRequests(log: Logger, listener: RequestListener): RequestListener {
  const idOf = newRequestIds()
  const levels = new LineLevels()
  const shows = { info: isShown(log, 'info'), debug: isShown(log, 'debug') }
  return (req, res) => {
    const requestId = idOf(req.headers['x-request-id'])
    res.setHeader(requestIdHeader, requestId)
    if (shows.info) {
      const startedAt = performance.now()
      res.once('close', () => {
        const noted = (res as ServerResponse & { locals?: Noted }).locals ?? {}
        const problem =
          noted.problem ?? noted.call?.problem ?? (res.statusCode < 400 ? undefined : `http-${res.statusCode}`)
        const isFault = res.statusCode >= 500
        const level = levels.of({ isRead: isRead(req, noted), problem, isFault, caller: noted.caller })
        if (shows[level]) log[level](lineOf(req, res, noted, { requestId, problem, startedAt }), 'request.answered')
      })
    }
    listener(req, res)
  }
}

function isRead({ method = '' }: IncomingMessage, { operation }: Noted): boolean {
  if (operation && !('route' in operation)) return operation.scope === 'read'
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS'
}

function lineOf(
  req: IncomingMessage,
  res: ServerResponse,
  noted: Noted,
  facts: { requestId: string; problem: string | undefined; startedAt: number },
): object {
  const { caller, agent, operation } = noted
  return {
    requestId: facts.requestId,
    method: req.method,
    route: routeOf(noted),
    operation: operation?.name,
    status: res.statusCode,
    problem: facts.problem,
    ms: sinceMs(facts.startedAt),
    agent: caller?.identity,
    keyId: caller?.keyId,
    project: caller?.projectId,
    to: agent?.handle,
    clientGone: res.writableFinished || res.statusCode === 101 ? undefined : true,
  }
}

/** The pattern that the request matched. A path itself may hold what its sender did not mean to tell. */
function routeOf({ agent, operation, route }: Noted): string | undefined {
  if (agent) return '/agents/:handle'
  const named = operation && 'route' in operation ? operation.route : route
  return named?.slice(named.indexOf(' ') + 1)
}

/** Whole tenths of a millisecond. */
export function sinceMs(startedAt: number): number {
  return Math.round((performance.now() - startedAt) * 10) / 10
}
