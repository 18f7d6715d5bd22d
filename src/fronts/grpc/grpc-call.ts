import type { A2AError } from '@a2a-js/sdk/errors'
import type { Metadata, ServerUnaryCall, ServerWritableStream } from '@grpc/grpc-js'
import type { Slot } from '../../admission/slots.ts'
import { A2aCall, type CallContext } from '../a2a/call.ts'
import { admittedCall, setTrailers } from './admitted-call.ts'
import { GrpcFailure } from './failure.ts'

type Wire = ServerUnaryCall<unknown, unknown> | ServerWritableStream<unknown, unknown>

/** An A2A call over gRPC. It ends when the client cancels it, its deadline passes or the gateway stops. */
export class GrpcCall extends A2aCall {
  /** The metadata that the client sent. */
  readonly metadata: Metadata
  readonly #wire: Wire
  readonly #slot: Slot
  #unread = 0
  #sent = () => {}

  constructor(wire: Wire, context: CallContext) {
    const { slot, ...facts } = admittedCall(wire.metadata)
    super(facts, context)
    this.metadata = wire.metadata
    this.#wire = wire
    this.#slot = slot
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
    this.#slot.release()
    const closed = new AbortController()
    // 'cancelled' is also emitted after an answer. A string as the reason avoids the cost of an exception with its stack.
    const cancel = (): void => closed.abort('cancelled')
    if (this.#wire.cancelled) cancel()
    this.#wire.once('cancelled', cancel)
    return AbortSignal.any([closed.signal, ...others])
  }
}
