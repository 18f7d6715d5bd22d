import { LegacyA2AService, legacyGrpcService } from '@a2a-js/sdk/compat/v0_3/server/grpc'
import { A2AService, grpcService } from '@a2a-js/sdk/server/grpc'
import { Server } from '@grpc/grpc-js'
import type { AgentFrontContext } from '../a2a/agent-routes.ts'
import { keepAliveMs } from '../sse.ts'
import { admitCalls } from './admission.ts'
import { GrpcCall } from './grpc-call.ts'
import { GrpcRequestHandler } from './request-handler.ts'

const options = {
  /** As over HTTP: files travel inside messages. */
  'grpc.max_receive_message_length': 16 * 1024 * 1024,
  'grpc.keepalive_time_ms': keepAliveMs,
  'grpc.keepalive_timeout_ms': 10_000,
  'grpc.enable_channelz': 0,
}

/** The A2A services of v1.0 and v0.3 for every agent: the tenant of a call names the one that is called. */
export function createGrpcServices(context: AgentFrontContext): Server {
  const server = new Server({ ...options, interceptors: [admitCalls(context)] })
  const sdkOptions = {
    requestHandler: new GrpcRequestHandler(context),
    userBuilder: async (wire: ConstructorParameters<typeof GrpcCall>[0]) => new GrpcCall(wire, context.stopping),
  }
  server.addService(A2AService, grpcService(sdkOptions))
  server.addService(LegacyA2AService, legacyGrpcService(sdkOptions))
  return server
}
