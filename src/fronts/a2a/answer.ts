import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express'
import { type Problem, toProblem } from '../../errors.ts'
import type { Logger } from '../../logger.ts'
import { fromBodyParser } from '../problem.ts'
import { rpcId } from './rpc-id.ts'

const domain = 'a2a-protocol.org'

/** google.rpc.Status names of the HTTP statuses that are answered before an operation begins (§11.6). */
const statusNames: Record<number, RpcStatusName> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  413: 'INVALID_ARGUMENT',
  415: 'INVALID_ARGUMENT',
  503: 'UNAVAILABLE',
}

type RpcStatusName =
  | 'INVALID_ARGUMENT'
  | 'UNAUTHENTICATED'
  | 'PERMISSION_DENIED'
  | 'NOT_FOUND'
  | 'UNAVAILABLE'
  | 'INTERNAL'

/** A problem as google.rpc.Status names it. */
export function rpcStatusName({ status }: Problem): RpcStatusName {
  return statusNames[status] ?? (status >= 500 ? 'INTERNAL' : 'INVALID_ARGUMENT')
}

/** A JSON-RPC error with an ErrorInfo (§9.5). */
export function sendRpcError(
  res: Response,
  id: unknown,
  code: number,
  message: string,
  reason = 'INVALID_REQUEST',
  status = 200,
): void {
  const data = [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain }]
  res.status(status).json({ jsonrpc: '2.0', id, error: { code, message, data } })
}

/** Whoever is told that a fault will pass is told when to try again; the SDK's transports set statuses and no headers. */
export const tellWhenToRetry: RequestHandler = (_req, res, next) => {
  const status = res.status.bind(res)
  res.status = (code) => {
    if (code === 503) res.setHeader('Retry-After', '1')
    return status(code)
  }
  next()
}

/** Answers what went wrong before an operation began, in the words of the binding that was called. */
export function sendA2aProblem(log: Logger): ErrorRequestHandler {
  return (error, req, res, next) => {
    if (res.headersSent) return next(error)
    const problem = toProblem(fromBodyParser(error) ?? error)
    if (problem.status >= 500) log.error({ err: error, path: req.path }, 'a2a.failed')
    if (problem.status === 401) res.setHeader('WWW-Authenticate', 'Bearer realm="rouse"')
    if (req.path === '/' && req.method === 'POST') return sendAsRpc(res, rpcId(req), problem)
    if (isLegacy(req)) return sendAsLegacy(res, problem)
    sendAsStatus(res, problem)
  }
}

function sendAsRpc(res: Response, id: string | number | null, problem: Problem): void {
  if (problem.code === 'invalid-json') {
    sendRpcError(res, null, -32700, `Invalid JSON payload. ${problem.message}`, 'PARSE_ERROR')
    return
  }
  const isInvalid = isRequestsFault(problem)
  const code = isInvalid ? -32600 : -32603
  sendRpcError(res, id, code, problem.message, reasonOf(problem), isInvalid ? 200 : problem.status)
}

function sendAsStatus(res: Response, problem: Problem): void {
  const status = rpcStatusName(problem)
  const details = [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: reasonOf(problem), domain }]
  res.status(problem.status).type('application/a2a+json')
  res.json({ error: { code: problem.status, status, message: problem.message, details } })
}

/** v0.3 answers REST errors as JSON-RPC's error object alone. */
function sendAsLegacy(res: Response, problem: Problem): void {
  const code = problem.code === 'invalid-json' ? -32700 : isRequestsFault(problem) ? -32600 : -32603
  res.status(problem.status).json({ code, message: problem.message })
}

function isLegacy(req: Request): boolean {
  return req.path.startsWith('/v1/') && (req.get('a2a-version') || '0.3') === '0.3'
}

function isRequestsFault({ status }: Problem): boolean {
  return status < 500 && ![401, 403, 404].includes(status)
}

/** The reason of a problem's google.rpc.ErrorInfo. */
export function reasonOf(problem: Problem): string {
  if (problem.field === 'A2A-Version') return 'VERSION_NOT_SUPPORTED'
  return problem.code.toUpperCase().replaceAll('-', '_')
}
