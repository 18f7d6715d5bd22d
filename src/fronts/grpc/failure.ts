import { A2AError } from '@a2a-js/sdk/errors'
import {
  buildGrpcErrorMetadata,
  encodeGrpcStatusDetails,
  GRPC_STATUS_CODE,
  GRPC_STATUS_DETAILS_BIN,
  grpcStatusFor,
} from '@a2a-js/sdk/errors/grpc'
import { Metadata, type StatusObject } from '@grpc/grpc-js'
import { toProblem } from '../../errors.ts'
import type { Logger } from '../../logger.ts'
import { reasonOf, rpcStatusName } from '../a2a/answer.ts'
import { toA2aError } from '../a2a/errors.ts'

/** A failure that is none of the specification's errors, with the status that the SDK sends for it. */
export class GrpcFailure extends A2AError {
  /** What the SDK knows an error by whose status is set. */
  readonly transport = 'grpc'
  readonly status: number

  constructor(status: keyof typeof GRPC_STATUS_CODE, message: string) {
    super({ message })
    this.status = GRPC_STATUS_CODE[status]
  }
}

/** What an operation threw, for the SDK to send: the specification's error (§5.4), or our own failure with its status. */
export function toGrpcError(error: unknown, log: Logger, operation: string): A2AError {
  const told = toA2aError(error, log, operation)
  const isSpecified = told === error || buildGrpcErrorMetadata(Metadata, told) !== undefined
  return isSpecified ? told : new GrpcFailure(rpcStatusName(toProblem(error)), told.message)
}

/** What refuses a call before its operation begins, with a google.rpc.ErrorInfo in its details. */
export function refusal(error: unknown, log: Logger): StatusObject {
  if (error instanceof A2AError) {
    const metadata = buildGrpcErrorMetadata(Metadata, error) ?? new Metadata()
    return { code: grpcStatusFor(error), details: error.message, metadata }
  }
  const problem = toProblem(error)
  if (problem.status >= 500) log.error({ err: error }, 'grpc.failed')
  const code = GRPC_STATUS_CODE[rpcStatusName(problem)]
  const info = { code: problem.code, ...(problem.field === undefined ? {} : { field: problem.field }) }
  const metadata = new Metadata()
  metadata.set(GRPC_STATUS_DETAILS_BIN, encodeGrpcStatusDetails(code, problem.message, reasonOf(problem), info))
  return { code, details: problem.message, metadata }
}
