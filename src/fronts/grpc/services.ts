import type { Socket } from 'node:net'
import { LegacyA2AService, legacyGrpcService } from '@a2a-js/sdk/compat/v0_3/server/grpc'
import { A2AService, grpcService } from '@a2a-js/sdk/server/grpc'
import { Server, ServerCredentials } from '@grpc/grpc-js'
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

/** What answers the calls that come over connections. */
export interface GrpcServices {
  take(connection: Socket): void
  /** Takes no call any more, and resolves when those in flight are over. */
  drain(): Promise<void>
  /** Ends the calls in flight. */
  cut(): void
}

/** The A2A services of v1.0 and v0.3 for every agent: the tenant of a call names the one that is called. */
export function createGrpcServices(context: AgentFrontContext): GrpcServices {
  const server = new Server({ ...options, interceptors: [admitCalls(context)] })
  const sdkOptions = {
    requestHandler: new GrpcRequestHandler(context),
    userBuilder: async (wire: ConstructorParameters<typeof GrpcCall>[0]) => new GrpcCall(wire, context.stopping),
  }
  server.addService(A2AService, grpcService(sdkOptions))
  server.addService(LegacyA2AService, legacyGrpcService(sdkOptions))
  return overConnections(server)
}

/** A server that listens nowhere: it is handed its connections. */
export function overConnections(server: Server): GrpcServices {
  const connections = server.createConnectionInjector(ServerCredentials.createInsecure())
  return {
    take: (connection) => connections.injectConnection(connection),
    drain: () => new Promise((done) => server.tryShutdown(() => done())),
    cut: () => server.forceShutdown(),
  }
}
