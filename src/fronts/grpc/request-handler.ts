import type { Task as A2aTask, GetTaskRequest, Message, SendMessageRequest } from '@a2a-js/sdk'
import type { ServerCallContext } from '@a2a-js/sdk/server'
import { type A2aContext, DurableRequestHandler } from '../a2a/request-handler.ts'
import { setTrailers } from './admission.ts'
import { GrpcFailure, toGrpcError } from './failure.ts'
import { grpcCallOf } from './grpc-call.ts'

/** The A2A operations over gRPC. Failures have gRPC statuses. */
export class GrpcRequestHandler extends DurableRequestHandler {
  constructor(context: A2aContext) {
    super(context, toGrpcError)
  }

  override async sendMessage(params: SendMessageRequest, context: ServerCallContext): Promise<A2aTask | Message> {
    try {
      return await super.sendMessage(params, context)
    } catch (error) {
      if (error instanceof GrpcFailure && error.trailers) setTrailers(grpcCallOf(context).metadata, error.trailers)
      throw error
    }
  }

  /** In v0.3's protobuf an unset history length is read as 0, and means no limit. */
  override getTask(params: GetTaskRequest, context: ServerCallContext): Promise<A2aTask> {
    const isUnset = context.requestedVersion === '0.3' && params.historyLength === 0
    return super.getTask(isUnset ? { ...params, historyLength: undefined } : params, context)
  }
}
