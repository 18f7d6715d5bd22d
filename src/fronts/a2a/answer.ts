import type { ErrorRequestHandler, Response } from 'express'
import { type Problem, toProblem } from '../../errors.ts'
import type { Logger } from '../../logger.ts'
import { fromBodyParser } from '../problem.ts'

const domain = 'a2a-protocol.org'

/** google.rpc.Status names of the HTTP statuses that are answered before an operation begins (§11.6). */
const statusNames: Record<number, string> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  413: 'INVALID_ARGUMENT',
  415: 'INVALID_ARGUMENT',
  503: 'UNAVAILABLE',
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

/** Answers what went wrong before an operation began, in the words of the binding that was called. */
export function sendA2aProblem(log: Logger): ErrorRequestHandler {
  return (error, req, res, next) => {
    if (res.headersSent) return next(error)
    const problem = toProblem(fromBodyParser(error) ?? error)
    if (problem.status >= 500) log.error({ err: error, path: req.path }, 'a2a.failed')
    if (problem.status === 401) res.setHeader('WWW-Authenticate', 'Bearer realm="rouse"')
    if (req.path === '/' && req.method === 'POST') return sendAsRpc(res, problem)
    sendAsStatus(res, problem)
  }
}

function sendAsRpc(res: Response, problem: Problem): void {
  const reason = reasonOf(problem)
  const isInvalid = problem.status < 500 && ![401, 403, 404].includes(problem.status)
  if (problem.code === 'invalid-json')
    sendRpcError(res, null, -32700, `Invalid JSON payload. ${problem.message}`, 'PARSE_ERROR')
  else sendRpcError(res, null, isInvalid ? -32600 : -32603, problem.message, reason, isInvalid ? 200 : problem.status)
}

function sendAsStatus(res: Response, problem: Problem): void {
  const status = statusNames[problem.status] ?? (problem.status >= 500 ? 'INTERNAL' : 'INVALID_ARGUMENT')
  const details = [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: reasonOf(problem), domain }]
  res.status(problem.status).json({ error: { code: problem.status, status, message: problem.message, details } })
}

function reasonOf(problem: Problem): string {
  return problem.code.toUpperCase().replaceAll('-', '_')
}
