import type { ServerCallContext } from '@a2a-js/sdk/server'
import type { Metadata, ServerUnaryCall, ServerWritableStream } from '@grpc/grpc-js'
import { readingBy } from '../../tasks/content-within.ts'
import { A2aCall, type CallContext } from '../a2a/call.ts'
import { admissionOf } from './admission.ts'
import { GrpcFailure } from './failure.ts'

type Wire = ServerUnaryCall<unknown, unknown> | ServerWritableStream<unknown, unknown>

/** An A2A call over gRPC. It ends when the client cancels it, its deadline passes or the gateway stops. */
export class GrpcCall extends A2aCall {
  /** The metadata that the client sent. */
  readonly metadata: Metadata
  readonly #wire: Wire
  readonly #leave: () => void
  #unsent = 0
  #sent = () => {}

  constructor(wire: Wire, context: CallContext) {
    const { leave, request, ...admission } = admissionOf(wire.metadata)
    const { caller } = admission
    const { large } = context.shares
    const reading = {
      beginReading: readingBy(caller.id, (bytes) => large.beginReading(caller, request, bytes)),
      beginEvent: (bytes: number, gone: AbortSignal) => large.beginEvent(caller, request, bytes, gone),
      endReading: () => large.endReading(caller, request),
      during: <T>(work: () => Promise<T>) => large.during(caller, request, work),
    }
    super({ ...admission, ...reading }, context)
    this.metadata = wire.metadata
    this.#wire = wire
    this.#leave = leave
  }

  /** Counts the unsent events of the stream: the SDK calls `write` once for each event and never waits. */
  override beginStream(): void {
    const wire = this.#wire as ServerWritableStream<unknown, unknown>
    const write = wire.write.bind(wire)
    wire.write = ((message: unknown) => {
      if (this.isRevoked) return false
      this.#unsent += 1
      return write(message, () => {
        this.#unsent -= 1
        if (this.#unsent === 0) this.#sent()
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

  override async taken(): Promise<void> {
    const { signal } = this
    if (this.#unsent === 0 || signal.aborted) return
    await new Promise<void>((resolve) => {
      this.#sent = resolve
      signal.addEventListener('abort', this.#sent)
    })
    signal.removeEventListener('abort', this.#sent)
  }

  protected override untilClosed(others: AbortSignal[]): AbortSignal {
    // A call that stays open is counted as a stream or a blocking call from here on, so it frees its place.
    this.#leave()
    const closed = new AbortController()
    // 'cancelled' is also emitted after an answer. A string as the reason avoids the cost of an exception with its stack.
    const cancel = (): void => closed.abort('cancelled')
    if (this.#wire.cancelled) cancel()
    this.#wire.once('cancelled', cancel)
    return AbortSignal.any([closed.signal, ...others])
  }
}

/** The gRPC call of an SDK context. The services have put it there. */
export function grpcCallOf(context: ServerCallContext): GrpcCall {
  if (context.user instanceof GrpcCall) return context.user
  throw new Error('A gRPC call came without its caller.')
}
