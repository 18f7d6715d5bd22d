import { A2AError } from '@a2a-js/sdk/errors'
import {
  buildGrpcErrorMetadata,
  encodeGrpcStatusDetails,
  GRPC_STATUS_CODE,
  GRPC_STATUS_DETAILS_BIN,
  grpcStatusFor,
} from '@a2a-js/sdk/errors/grpc'
import { Metadata, type StatusObject } from '@grpc/grpc-js'
import { type Problem, toProblem } from '../../errors.ts'
import type { Logger } from '../../logger/logger.ts'
import { rpcStatusName } from '../a2a/answer.ts'
import { metadataOf, reasonOf } from '../a2a/error-info.ts'
import { toA2aError } from '../a2a/errors.ts'
import { retrySecondsOf } from '../http/problem.ts'

/** A failure that is not one of the specification's errors, with the gRPC status that the SDK sends for it. */
export class GrpcFailure extends A2AError {
  /** Sent with the status. The SDK sends none for an error that is not its own. */
  readonly trailers: Metadata | undefined
  /** The SDK reads `status` from errors with this transport. */
  readonly transport = 'grpc'
  readonly status: number

  constructor(status: keyof typeof GRPC_STATUS_CODE, message: string, trailers?: Metadata) {
    super({ message })
    this.trailers = trailers
    this.status = GRPC_STATUS_CODE[status]
  }
}

/** Translates what an operation threw: to the specification's error (§5.4), or to a `GrpcFailure`. */
export function toGrpcError(error: unknown, log: Logger, operation: string): A2AError {
  const failure = toA2aError(error, log, operation)
  failure.message = sendableText(failure.message)
  const isSpecified = failure === error || buildGrpcErrorMetadata(Metadata, failure) !== undefined
  if (isSpecified) return failure
  const problem = toProblem(error)
  const trailers = problem.status === 429 ? trailersOf(problem) : undefined
  return new GrpcFailure(rpcStatusName(problem), failure.message, trailers)
}

/** The status that refuses a call before its operation begins, with a google.rpc.ErrorInfo in its details. */
export function refusal(error: unknown, log: Logger): StatusObject {
  return sendableStatus(statusOf(error, log))
}

/**
 * Cuts a status to a form that can be sent. grpc-js writes the details as a header: it cannot encode half a surrogate pair, and a
 * client never gets an answer whose headers are larger than HTTP/2 allows.
 */
export function sendableStatus<Status extends Pick<StatusObject, 'code' | 'details'> & { metadata?: Metadata | null }>(
  status: Status,
): Status {
  const { details, metadata } = status
  const info = metadata?.get(GRPC_STATUS_DETAILS_BIN)[0]
  if (info && info.length > detailsBinMax) metadata?.remove(GRPC_STATUS_DETAILS_BIN)
  return typeof details === 'string' ? { ...status, details: sendableText(details) } : status
}

/** The characters of a status message. */
const detailsMax = 1_000
/** The ErrorInfo repeats the message and adds a few fields. */
const detailsBinMax = 4 * detailsMax

function sendableText(text: string): string {
  return text.length <= detailsMax ? wellFormed(text) : `${wellFormed(text.slice(0, detailsMax))} …`
}

function statusOf(error: unknown, log: Logger): StatusObject {
  if (error instanceof A2AError) {
    const metadata = buildGrpcErrorMetadata(Metadata, error) ?? new Metadata()
    return { code: grpcStatusFor(error), details: error.message, metadata }
  }
  const problem = toProblem(error)
  if (problem.isFault) log.error({ err: error }, 'grpc.failed')
  const code = GRPC_STATUS_CODE[rpcStatusName(problem)]
  return { code, details: problem.message, metadata: trailersOf(problem) }
}

/** The ErrorInfo of a problem, and the time after which gRPC clients retry on their own (gRPC proposal A6). */
function trailersOf(problem: Problem): Metadata {
  const code = GRPC_STATUS_CODE[rpcStatusName(problem)]
  const metadata = new Metadata()
  metadata.set(
    GRPC_STATUS_DETAILS_BIN,
    encodeGrpcStatusDetails(code, sendableText(problem.message), reasonOf(problem), metadataOf(problem)),
  )
  if (problem.status === 429 || problem.code === 'overloaded')
    metadata.set('grpc-retry-pushback-ms', `${retrySecondsOf(problem)}000`)
  return metadata
}

/** Returns the text with each unpaired surrogate replaced by U+FFFD. */
function wellFormed(text: string): string {
  return text.isWellFormed() ? text : text.toWellFormed()
}
