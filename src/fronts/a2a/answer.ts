import express, { type ErrorRequestHandler, type Request, type RequestHandler, type Response } from 'express'
import { type Problem, toProblem } from '../../errors.ts'
import { isJsonObject } from '../../lib/json.ts'
import { sizeLimits } from '../../limits.ts'
import type { Logger } from '../../logger/logger.ts'
import { bearerKey } from '../http/auth.ts'
import { challengeOf } from '../http/challenge.ts'
import { fromExpress, type RefusalTools, retrySecondsOf, setEncodings } from '../http/problem.ts'
import { requestIdOf } from '../http/request-log.ts'
import { noteRefusal } from '../note-refusal.ts'
import type { A2aCall } from './call.ts'
import { metadataOf, reasonOf } from './error-info.ts'

const domain = 'a2a-protocol.org'

/** google.rpc.Status names of the HTTP statuses that refuse a request before its operation begins (specification §11.6). */
const statusNames: Record<number, RpcStatusName> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  413: 'INVALID_ARGUMENT',
  415: 'INVALID_ARGUMENT',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
}

type RpcStatusName =
  | 'INVALID_ARGUMENT'
  | 'UNAUTHENTICATED'
  | 'PERMISSION_DENIED'
  | 'NOT_FOUND'
  | 'RESOURCE_EXHAUSTED'
  | 'UNAVAILABLE'
  | 'INTERNAL'

/** The google.rpc.Status name of a problem. */
export function rpcStatusName({ status }: Problem): RpcStatusName {
  return statusNames[status] ?? (status >= 500 ? 'INTERNAL' : 'INVALID_ARGUMENT')
}

/** A JSON-RPC error and the reason in its ErrorInfo. */
export interface RpcError {
  readonly code: number
  readonly message: string
  readonly reason: string
  readonly metadata?: Record<string, string>
}

/** Sends a JSON-RPC error with an ErrorInfo (specification §9.5). JSON-RPC errors have the HTTP status 200. */
export function sendRpcError(res: Response, id: string | number | null, error: RpcError): void {
  res.status(200).json(rpcError(id, error))
}

function rpcError(id: string | number | null, { code, message, reason, metadata }: RpcError): object {
  const data = [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain, ...(metadata && { metadata }) }]
  return { jsonrpc: '2.0', id, error: { code, message, data } }
}

/**
 * Adds `WWW-Authenticate` to 401 answers, `Retry-After` to 503 and 429 answers, and the status names that the SDK's transports do
 * not know: they set statuses but no headers.
 */
export const addRetryHeaders: RequestHandler = (_req, res, next) => {
  // Functions of the module: closures for each request would cost more than what they do.
  res.status = statusWithRetry
  res.json = jsonWithRetry
  next()
}

const { status: setStatus, json: sendJson } = express.response

function statusWithRetry(this: Response, code: number): Response {
  if (code === 401) this.setHeader('WWW-Authenticate', challengeOf(this))
  if (code === 503) this.setHeader('Retry-After', '1')
  if (code === 429 && !this.hasHeader('Retry-After')) this.setHeader('Retry-After', '60')
  return setStatus.call(this, code)
}

function jsonWithRetry(this: Response, answer: { error?: ErrorBody }): Response {
  const body = isFault(this, answer?.error) ? withoutReason(this, answer as { error: ErrorBody }) : answer
  if (body?.error) return sendJson.call(this, withRetry(this, body as { error: ErrorBody }))
  return sendJson.call(this, body)
}

/** True when the SDK failed outside the operation, for example on a task that it cannot write. It answers with the message of what it caught. */
function isFault({ locals, statusCode }: Response, error: ErrorBody | undefined): boolean {
  const { call, problem } = locals as { call?: A2aCall; problem?: string }
  const isInternal = statusCode >= 500 || error?.code === -32603
  return error !== undefined && isInternal && call !== undefined && call.failure === undefined && problem === undefined
}

/** Replaces the message by the sentence of any unknown error, and writes it to the log. */
function withoutReason(res: Response, { error, ...rest }: { error: ErrorBody }): { error: ErrorBody } {
  const log = res.locals.log as Logger
  log.error({ err: error.message, requestId: requestIdOf(res), path: res.req.path }, 'a2a.failed')
  return { ...rest, error: { ...error, message: toProblem(undefined).message } }
}

/** Sends the result of a JSON-RPC call. Express would look at what no such answer has: an ETag, a charset, a type by its value. */
export function sendRpcResult(res: Response, answer: object): void {
  const text = JSON.stringify(answer)
  res.setHeader('Content-Type', 'application/json; charset=utf-8')
  res.setHeader('Content-Length', Buffer.byteLength(text))
  res.end(text)
}

/** The error object of JSON-RPC or of HTTP+JSON. */
interface ErrorBody {
  readonly code?: number
  readonly message?: string
  readonly status?: string
  readonly data?: readonly unknown[]
  readonly details?: readonly unknown[]
}

function withRetry(res: Response, body: { error: ErrorBody }): object {
  const [info] = (body.error.data ?? body.error.details ?? []) as { metadata?: Record<string, string> }[]
  const seconds = info?.metadata?.retryAfterSeconds
  if (seconds !== undefined) res.setHeader('Retry-After', seconds)
  const status = statusNames[res.statusCode]
  if (body.error.status !== 'UNKNOWN' || status === undefined) return body
  return { ...body, error: { ...body.error, status } }
}

/** Answers a request that was refused before its operation began, in the form of the binding that was called. */
export function sendA2aProblem({ log, wrongKeys, metrics }: RefusalTools): ErrorRequestHandler {
  return async (error, req, res, next) => {
    if (res.headersSent) return next(error)
    const from = { remote: req.socket.remoteAddress, forwardedFor: req.get('x-forwarded-for') }
    const judged = await wrongKeys.judge(error, from, bearerKey(req))
    const problem = toProblem(fromExpress(error) ?? judged)
    noteRefusal(metrics, problem)
    if (problem.isFault) log.error({ err: error, requestId: requestIdOf(res), path: req.path }, 'a2a.failed')
    res.locals.problem = problem.code
    answerA2aProblem(req, res, problem)
  }
}

/** Answers a problem in the form of the request's binding and version. */
export function answerA2aProblem(req: Request, res: Response, problem: Problem): void {
  const isRpc = isJsonRpc(req)
  if (problem.status === 429) res.setHeader('Retry-After', retrySecondsOf(problem))
  setEncodings(res, problem)
  if (!isRpc && !isLegacy(req)) res.type('application/a2a+json')
  res.status(isRpc && isClientError(problem) ? 200 : problem.status).json(a2aErrorBody(req, problem))
}

/** The body of a problem in the form of the request's binding and version. */
export function a2aErrorBody(req: Request, problem: Problem): object {
  if (isJsonRpc(req)) return rpcErrorBody(rpcId(req), problem)
  return isLegacy(req) ? legacyErrorBody(problem) : statusErrorBody(problem)
}

function rpcErrorBody(id: string | number | null, problem: Problem): object {
  const { message } = problem
  if (problem.code === 'invalid-json') {
    return rpcError(null, { code: -32700, message: `Invalid JSON payload. ${message}`, reason: 'PARSE_ERROR' })
  }
  const code = isClientError(problem) ? -32600 : -32603
  return rpcError(id, { code, message, reason: reasonOf(problem), metadata: metadataOf(problem) })
}

/** The body of a problem in HTTP+JSON v1.0. */
export function statusErrorBody(problem: Problem): object {
  const status = rpcStatusName(problem)
  const info = { reason: reasonOf(problem), domain, metadata: metadataOf(problem) }
  const details = [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', ...info }]
  return { error: { code: problem.status, status, message: problem.message, details } }
}

/** In v0.3 the body of a REST error is the error object of JSON-RPC. */
function legacyErrorBody(problem: Problem): object {
  const code = problem.code === 'invalid-json' ? -32700 : isClientError(problem) ? -32600 : -32603
  return { code, message: problem.message }
}

function isJsonRpc(req: Request): boolean {
  return req.path === '/' && req.method === 'POST'
}

function isLegacy(req: Request): boolean {
  return req.path.startsWith('/v1/') && (req.get('a2a-version') || '0.3') === '0.3'
}

/** True for a request that is wrong in itself: it gets the JSON-RPC code of an invalid request. */
function isClientError({ status }: Problem): boolean {
  return status < 500 && ![401, 403, 404, 429].includes(status)
}

/** The id that an answer repeats. null: the request has no valid id (JSON-RPC 2.0 §5), or it is too long to repeat. */
export function rpcId(req: Request): string | number | null {
  const id = isJsonObject(req.body) ? req.body.id : null
  if (typeof id === 'string') return id.length <= sizeLimits.id.max ? id : null
  return Number.isInteger(id) ? (id as number) : null
}
