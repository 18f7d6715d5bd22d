import type { ServerResponse } from 'node:http'
import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express'
import type { WrongKeys } from '../../admission/wrong-keys.ts'
import { Problem, toProblem } from '../../errors.ts'
import type { Logger } from '../../logger/logger.ts'
import type { Metrics } from '../../metrics/metrics.ts'
import { noteRefusal } from '../note-refusal.ts'
import { problemBody } from '../problem-body.ts'
import { bearerKey } from './auth.ts'
import { challengeOf } from './challenge.ts'
import { requestIdOf } from './request-log.ts'

/** Writes a problem in the form of RFC 9457, with `code` and `field` as extension members; or in the form of its protocol, as JSON. */
export function sendProblem(res: ServerResponse, problem: Problem, instance: string, body?: object): void {
  if (problem.status === 401) res.setHeader('WWW-Authenticate', challengeOf(res))
  if (problem.status === 429 || problem.status === 503) res.setHeader('Retry-After', retrySecondsOf(problem))
  setEncodings(res, problem)
  res.statusCode = problem.status
  res.setHeader('Content-Type', body ? 'application/json' : 'application/problem+json')
  res.end(JSON.stringify(body ?? problemBody(problem, instance)))
}

/** Returns the `Retry-After` of a reached limit, or of a gateway that cannot serve now, in seconds. */
export function retrySecondsOf({ extra, status }: Problem): string {
  return String(extra.retryAfterSeconds ?? (status === 503 ? 1 : 60))
}

/** Says how a body may be encoded, in the answer to one that is not (RFC 9110 section 12.5.3). */
export function setEncodings(res: ServerResponse, { field }: Problem): void {
  if (field === 'Content-Encoding') res.setHeader('Accept-Encoding', 'identity')
}

/** The tools of a front that refuses a request. */
export interface RefusalTools {
  readonly log: Logger
  readonly wrongKeys: WrongKeys
  readonly metrics: Pick<Metrics, 'refused'>
}

/** Returns the problem answer for anything that a handler threw. */
export function problemHandler(tools: RefusalTools): ErrorRequestHandler {
  return refusing(tools, (req, res, problem) => sendProblem(res, problem, pathOf(req)))
}

/** Has `send` answer anything that a handler threw. Unknown errors are logged, and have the problem `internal`. */
export function refusing(
  { log, wrongKeys, metrics }: RefusalTools,
  send: (req: Request, res: Response, problem: Problem) => void,
): ErrorRequestHandler {
  return async (error, req, res, _next) => {
    const from = { remote: req.socket.remoteAddress, forwardedFor: req.get('x-forwarded-for') }
    const judged = await wrongKeys.judge(error, from, bearerKey(req))
    const problem = toProblem(fromExpress(error) ?? judged)
    noteRefusal(metrics, problem)
    if (problem.isFault) {
      const about = { requestId: requestIdOf(res), method: req.method, path: pathOf(req) }
      log.error({ err: error, ...about }, 'request.failed')
    }
    // A stream that fails is closed: its reader reconnects with the last id that it saw.
    if (res.headersSent) return void res.destroy()
    // The audit records a wrong key above the limit as a wrong key too.
    res.locals.problem = judged === error ? problem.code : toProblem(error).code
    send(req, res, problem)
  }
}

/** Without the query. */
const pathOf = ({ originalUrl }: Request): string => originalUrl.split('?')[0] ?? '/'

export const notFound: RequestHandler = (req) => {
  throw new Problem('not-found', {
    detail: `There is no route ${req.method} ${req.baseUrl}${req.path}. /.well-known/ai-catalog.json lists the agents, docs/api.md the routes.`,
  })
}

/** The problem for an error of Express itself, for example of a path that cannot be decoded. */
export function fromExpress(error: unknown): Problem | undefined {
  const isOwn = error instanceof Problem || (error as { status?: number } | undefined)?.status !== 400
  return isOwn ? undefined : unreadable()
}

/** The problem of a request of which not everything arrived, or whose path cannot be decoded. */
export const unreadable = (): Problem => new Problem('invalid-request', { detail: 'The request could not be read.' })
