import {
  A2AError,
  ContentTypeNotSupportedError,
  RequestMalformedError,
  TaskNotCancelableError,
  TaskNotFoundError,
  UnsupportedOperationError,
} from '@a2a-js/sdk/errors'
import { type Problem, type ProblemCode, toProblem } from '../../errors.ts'
import type { Logger } from '../../logger/logger.ts'
import { metadataOf, reasonOf } from './error-info.ts'

type ErrorClass = new (options: { message: string; metadata: Record<string, string>; cause?: unknown }) => A2AError

/** The specification's error (§3.3.2) for a problem. Other problems are an invalid request, or an internal error. */
const errorClasses: Partial<Record<ProblemCode, ErrorClass>> = {
  'task-not-found': TaskNotFoundError,
  'push-config-not-found': TaskNotFoundError,
  'task-finished': UnsupportedOperationError,
  'unsupported-media-type': ContentTypeNotSupportedError,
}

/**
 * A failure outside the operation: a revoked key, a caller who may not call (specification §3.3.2), a limit, an outage. Over
 * HTTP+JSON the SDK answers with `statusCode`.
 */
class StatusError extends A2AError {
  readonly transport = 'rest'
  readonly statusCode: number
  override readonly reason: string

  constructor(problem: Problem) {
    super({ message: problem.message, metadata: metadataOf(problem) })
    this.statusCode = problem.status
    this.reason = reasonOf(problem)
  }
}

const ownStatuses = new Set([401, 403, 429, 503])

/**
 * Translates a thrown value to an A2A error. Its message says what to do, its ErrorInfo names the field. The SDK maps it to
 * JSON-RPC codes, HTTP statuses and gRPC statuses (specification §5.4).
 */
export function toA2aError(error: unknown, log: Logger, operation: string): A2AError {
  if (error instanceof A2AError) return error
  const problem = toProblem(error)
  if (problem.isFault) {
    log.error({ err: error, operation }, 'a2a.failed')
    if (problem.status !== 503) return new A2AError({ message: problem.message })
  }
  if (ownStatuses.has(problem.status)) return new StatusError(problem)
  const canceling = operation === 'CancelTask' && problem.code === 'task-finished'
  const ErrorType = canceling ? TaskNotCancelableError : (errorClasses[problem.code] ?? RequestMalformedError)
  return new ErrorType({ message: problem.message, metadata: metadataOf(problem) })
}
