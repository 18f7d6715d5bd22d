import type { ServerCallContext } from '@a2a-js/sdk/server'
import type { ServerUnaryCall, ServerWritableStream } from '@grpc/grpc-js'
import { A2aCall } from '../a2a/call.ts'
import { admissionOf } from './admission.ts'

type Wire = ServerUnaryCall<unknown, unknown> | ServerWritableStream<unknown, unknown>

/** An A2A call that came over gRPC. It ends when the client cancels it, its deadline passes or the gateway stops. */
export class GrpcCall extends A2aCall {
  #unsent = 0
  #sent = () => {}

  constructor(wire: Wire, stopping: AbortSignal) {
    super({ ...admissionOf(wire.metadata), untilClosed: () => untilCancelled(wire, stopping) })
    if ('write' in wire) this.#countUnsent(wire)
  }

  /** Waits until the client has taken what was written to it: a slow reader reads no further ahead in the log. */
  async untilSent(): Promise<void> {
    const { signal } = this
    if (this.#unsent === 0 || signal.aborted) return
    await new Promise<void>((resolve) => {
      this.#sent = resolve
      signal.addEventListener('abort', this.#sent)
    })
    signal.removeEventListener('abort', this.#sent)
  }

  /** The SDK writes one event a call, and never waits for it to leave. */
  #countUnsent(wire: ServerWritableStream<unknown, unknown>): void {
    const write = wire.write.bind(wire)
    wire.write = ((message: unknown) => {
      this.#unsent += 1
      return write(message, () => {
        this.#unsent -= 1
        if (this.#unsent === 0) this.#sent()
      })
    }) as typeof wire.write
  }
}

/** The gRPC call behind an SDK context; the services put it there. */
export function grpcCallOf(context: ServerCallContext): GrpcCall {
  if (context.user instanceof GrpcCall) return context.user
  throw new Error('A gRPC call came without its caller.')
}

function untilCancelled(wire: Wire, stopping: AbortSignal): AbortSignal {
  const closed = new AbortController()
  // With a reason of its own: whoever was answered is told so too, and an exception with its stack costs.
  const cancel = (): void => closed.abort('cancelled')
  if (wire.cancelled) cancel()
  wire.once('cancelled', cancel)
  return AbortSignal.any([closed.signal, stopping])
}
