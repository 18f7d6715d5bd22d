import type { Socket } from 'node:net'
import type { Task as A2aTask, GetTaskRequest } from '@a2a-js/sdk'
import { LegacyA2AService, legacyGrpcService } from '@a2a-js/sdk/compat/v0_3/server/grpc'
import type { A2AError } from '@a2a-js/sdk/errors'
import type { ServerCallContext } from '@a2a-js/sdk/server'
import { A2AService, grpcService } from '@a2a-js/sdk/server/grpc'
import {
  type Metadata,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServerWritableStream,
} from '@grpc/grpc-js'
import { projectLimits } from '../../limits.ts'
import { A2aCall } from '../a2a/call.ts'
import { DurableRequestHandler } from '../a2a/request-handler.ts'
import type { ConnectionBounds } from '../connection-bounds.ts'
import type { FrontContext } from '../front-context.ts'
import { keepAliveMs } from '../http/sse.ts'
import { admitCalls, type GrpcEdge } from './admit-calls.ts'
import { admittedCall, setTrailers } from './admitted-call.ts'
import { bounded } from './bounded-messages.ts'
import { GrpcFailure, toGrpcError } from './failure.ts'
import { countingBytes } from './metered-call.ts'

/** An A2A call over gRPC. It ends when the client cancels it, its deadline passes or the gateway stops. */
export class GrpcCall extends A2aCall {
  /** The metadata that the client sent. */
  readonly metadata: Metadata
  readonly #wire: Wire
  #unread = 0
  #sent = () => {}

  constructor(wire: Wire, context: FrontContext) {
    super(admittedCall(wire.metadata), context)
    this.metadata = wire.metadata
    this.#wire = wire
  }

  /** Counts the unsent events of the stream: the SDK calls `write` once for each event and never waits. */
  override beginStream(): void {
    const wire = this.#wire as ServerWritableStream<unknown, unknown>
    const write = wire.write.bind(wire)
    wire.write = ((message: unknown) => {
      if (this.isRevoked) return false
      this.#unread += 1
      return write(message, () => {
        this.#unread -= 1
        if (this.#unread === 0) this.#sent()
      })
    }) as typeof wire.write
  }

  /** Fails a stream that was cut off because the key was revoked or the gateway stops. Otherwise its client would take it for complete. */
  override finishStream(): void {
    this.requireNotRevoked()
    if (this.context.stopping.aborted) {
      throw new GrpcFailure('UNAVAILABLE', 'The gateway is stopping. Subscribe to the task again in a moment.')
    }
  }

  /** The SDK sends no details of an error that is not its own: they are sent with the status of the call. */
  override beforeFailure(failure: A2AError): void {
    if (failure instanceof GrpcFailure && failure.trailers) setTrailers(this.metadata, failure.trailers)
  }

  override async taken(): Promise<void> {
    const { signal } = this
    if (this.#unread === 0 || signal.aborted) return
    await new Promise<void>((resolve) => {
      this.#sent = resolve
      signal.addEventListener('abort', this.#sent)
    })
    signal.removeEventListener('abort', this.#sent)
  }

  protected override untilClosed(others: AbortSignal[]): AbortSignal {
    // A call that stays open is counted as a stream or a blocking call from here on, so it frees its slot.
    this.slot.release()
    const closed = new AbortController()
    // 'cancelled' is also emitted after an answer. A string as the reason avoids the cost of an exception with its stack.
    const cancel = (): void => closed.abort('cancelled')
    if (this.#wire.cancelled) cancel()
    this.#wire.once('cancelled', cancel)
    return AbortSignal.any([closed.signal, ...others])
  }
}

/** The A2A operations over gRPC. Failures have gRPC statuses. */
class GrpcRequestHandler extends DurableRequestHandler {
  constructor(context: FrontContext) {
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
export function createGrpcServices(context: FrontContext, edge: GrpcEdge): GrpcServices {
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

type Wire = ServerUnaryCall<unknown, unknown> | ServerWritableStream<unknown, unknown>
