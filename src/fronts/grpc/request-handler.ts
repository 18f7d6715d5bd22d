import type {
  Task as A2aTask,
  GetTaskRequest,
  SendMessageRequest,
  StreamResponse,
  SubscribeToTaskRequest,
} from '@a2a-js/sdk'
import type { ServerCallContext } from '@a2a-js/sdk/server'
import type { AgentFrontContext } from '../a2a/agent-routes.ts'
import { DurableRequestHandler } from '../a2a/request-handler.ts'
import { GrpcFailure, toGrpcError } from './failure.ts'
import { type GrpcCall, grpcCallOf } from './grpc-call.ts'

type Responses = AsyncGenerator<StreamResponse, void, undefined>

/** The operations as gRPC has them: statuses of its own, streams that wait for their reader and say when they were cut. */
export class GrpcRequestHandler extends DurableRequestHandler {
  readonly #stopping: AbortSignal

  constructor(context: AgentFrontContext) {
    super(context, toGrpcError)
    this.#stopping = context.stopping
  }

  /** In v0.3's protobuf an unset history length is 0, and 0 is no limit. */
  override getTask(params: GetTaskRequest, context: ServerCallContext): Promise<A2aTask> {
    const isUnset = context.requestedVersion === '0.3' && params.historyLength === 0
    return super.getTask(isUnset ? { ...params, historyLength: undefined } : params, context)
  }

  override sendMessageStream(params: SendMessageRequest, context: ServerCallContext): Responses {
    return this.#paced(super.sendMessageStream(params, context), grpcCallOf(context))
  }

  override resubscribe(params: SubscribeToTaskRequest, context: ServerCallContext): Responses {
    return this.#paced(super.resubscribe(params, context), grpcCallOf(context))
  }

  async *#paced(events: Responses, call: GrpcCall): Responses {
    for await (const event of events) {
      await call.untilSent()
      if (call.signal.aborted) break
      yield event
    }
    // A stream that ended by itself is complete. One that a stop has cut is not, and its client has to know.
    if (this.#stopping.aborted) {
      throw new GrpcFailure('UNAVAILABLE', 'The gateway is stopping. Subscribe to the task again in a moment.')
    }
  }
}
