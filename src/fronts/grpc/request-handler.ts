import type { Task as A2aTask, GetTaskRequest } from '@a2a-js/sdk'
import type { ServerCallContext } from '@a2a-js/sdk/server'
import { type A2aContext, DurableRequestHandler } from '../a2a/request-handler.ts'
import { toGrpcError } from './failure.ts'

/** The A2A operations over gRPC. Failures have gRPC statuses. */
export class GrpcRequestHandler extends DurableRequestHandler {
  constructor(context: A2aContext) {
    super(context, toGrpcError)
  }

  /** In v0.3's protobuf an unset history length is read as 0, and means no limit. */
  override getTask(params: GetTaskRequest, context: ServerCallContext): Promise<A2aTask> {
    const isUnset = context.requestedVersion === '0.3' && params.historyLength === 0
    return super.getTask(isUnset ? { ...params, historyLength: undefined } : params, context)
  }
}
