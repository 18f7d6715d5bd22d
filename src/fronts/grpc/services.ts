import type { Socket } from 'node:net'
import type { Task as A2aTask, GetTaskRequest } from '@a2a-js/sdk'
import { LegacyA2AService, legacyGrpcService } from '@a2a-js/sdk/compat/v0_3/server/grpc'
import type { ServerCallContext } from '@a2a-js/sdk/server'
import { A2AService, grpcService } from '@a2a-js/sdk/server/grpc'
import { Server, ServerCredentials } from '@grpc/grpc-js'
import { projectLimits } from '../../limits.ts'
import type { AgentFrontContext } from '../a2a/agent-routes.ts'
import { type A2aContext, DurableRequestHandler } from '../a2a/request-handler.ts'
import type { ConnectionBounds } from '../connection-bounds.ts'
import { keepAliveMs } from '../http/sse.ts'
import { admitCalls, type GrpcEdge } from './admit-calls.ts'
import { bounded } from './bounded-messages.ts'
import { toGrpcError } from './failure.ts'
import { GrpcCall } from './grpc-call.ts'
import { countingBytes } from './metered-call.ts'

/** The A2A operations over gRPC. Failures have gRPC statuses. */
class GrpcRequestHandler extends DurableRequestHandler {
  constructor(context: A2aContext) {
    super(context, toGrpcError)
  }

  /** In v0.3's protobuf an unset history length is read as 0, and means no limit. */
  override getTask(params: GetTaskRequest, context: ServerCallContext): Promise<A2aTask> {
    const isUnset = context.requestedVersion === '0.3' && params.historyLength === 0
    return super.getTask(isUnset ? { ...params, historyLength: undefined } : params, context)
  }
}

/** A connection without a call in flight, in ms. */
const idleMs = 300_000

function optionsWithin({ grpcCalls }: ConnectionBounds, bodyMax: number) {
  return {
    'grpc.max_receive_message_length': bodyMax,
    'grpc.max_concurrent_streams': grpcCalls,
    'grpc.max_connection_idle_ms': idleMs,
    'grpc.keepalive_time_ms': keepAliveMs,
    'grpc.keepalive_timeout_ms': 10_000,
    'grpc.enable_channelz': 0,
    // In MB, mostly answers that the client has not read. A connection that holds more gets no new calls.
    'grpc-node.max_session_memory': projectLimits.unreadBytes.max / 1_000_000,
  }
}

/** Serves gRPC calls over connections that it is given. */
export interface GrpcServices {
  take(connection: Socket): void
  /** Stops accepting calls. Resolves when the calls in flight have ended. */
  drain(): Promise<void>
  /** Ends the calls in flight. */
  end(): void
}

/** The A2A services of v1.0 and v0.3 for every agent; the tenant of a call names the agent. */
export function createGrpcServices(context: AgentFrontContext, edge: GrpcEdge): GrpcServices {
  const server = new Server({
    ...optionsWithin(edge.bounds, context.bodyMax),
    interceptors: [admitCalls(context, edge)],
  })
  const sdkOptions = {
    requestHandler: new GrpcRequestHandler(context),
    userBuilder: async (wire: ConstructorParameters<typeof GrpcCall>[0]) => new GrpcCall(wire, context),
  }
  server.addService(countingBytes(bounded(A2AService)), grpcService(sdkOptions))
  server.addService(countingBytes(bounded(LegacyA2AService)), legacyGrpcService(sdkOptions))
  return overConnections(server)
}

/** Wraps a server that does not listen itself. */
export function overConnections(server: Server): GrpcServices {
  const connections = server.createConnectionInjector(ServerCredentials.createInsecure())
  return {
    take: (connection) => connections.injectConnection(connection),
    drain: () => new Promise((done) => server.tryShutdown(() => done())),
    end: () => server.forceShutdown(),
  }
}
