import type { Socket } from 'node:net'
import { LegacyA2AService, legacyGrpcService } from '@a2a-js/sdk/compat/v0_3/server/grpc'
import { A2AService, grpcService } from '@a2a-js/sdk/server/grpc'
import { Server, ServerCredentials } from '@grpc/grpc-js'
import { inputLimits, openLimits } from '../../limits.ts'
import type { AgentFrontContext } from '../a2a/agent-routes.ts'
import type { ConnectionBounds } from '../connection-bounds.ts'
import { keepAliveMs } from '../sse.ts'
import { admitCalls } from './admission.ts'
import { GrpcCall } from './grpc-call.ts'
import { takingBytes } from './metered-call.ts'
import { modest } from './modest-messages.ts'
import { GrpcRequestHandler } from './request-handler.ts'

function optionsWithin({ grpcIdle, grpcCalls }: ConnectionBounds) {
  return {
    'grpc.max_receive_message_length': inputLimits.a2aBody.max,
    'grpc.max_concurrent_streams': grpcCalls,
    'grpc.max_connection_idle_ms': grpcIdle * 1000,
    'grpc.keepalive_time_ms': keepAliveMs,
    'grpc.keepalive_timeout_ms': 10_000,
    'grpc.enable_channelz': 0,
    // MB that one connection may hold before new calls on it are refused: what its client has not taken, above all.
    'grpc-node.max_session_memory': openLimits.unsentBytes.max / 1_000_000,
  }
}

/** What answers the calls that come over connections. */
export interface GrpcServices {
  take(connection: Socket): void
  /** Takes no call any more, and resolves when those in flight are over. */
  drain(): Promise<void>
  /** Ends the calls in flight. */
  cut(): void
}

/**
 * The A2A services of v1.0 and v0.3 for every agent: the tenant of a call names the one that is called. `proved` hears the peer
 * (`host:port`) of each call that showed a valid key.
 */
export function createGrpcServices(
  context: AgentFrontContext,
  bounds: ConnectionBounds,
  proved: (peer: string) => void,
): GrpcServices {
  const server = new Server({ ...optionsWithin(bounds), interceptors: [admitCalls(context, bounds, proved)] })
  const sdkOptions = {
    requestHandler: new GrpcRequestHandler(context),
    userBuilder: async (wire: ConstructorParameters<typeof GrpcCall>[0]) => new GrpcCall(wire, context),
  }
  server.addService(takingBytes(modest(A2AService)), grpcService(sdkOptions))
  server.addService(takingBytes(modest(LegacyA2AService)), legacyGrpcService(sdkOptions))
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
