import { constants, type ServerHttp2Stream } from 'node:http2'
import {
  ServerInterceptingCall,
  type ServerInterceptingCallInterface,
  type ServerMethodDefinition,
  type StatusObject,
} from '@grpc/grpc-js'
import type { AnswerReader, UnreadAnswers } from '../../admission/unread-answers.ts'

/** The counters and limits of a call's answers. */
interface Meter {
  readonly unread: UnreadAnswers
  readonly stallMs: number
  readonly refusal: (error: unknown) => StatusObject
}

type Definition = ServerMethodDefinition<unknown, unknown>
/** The handlers of an interceptor. */
export type Responder = NonNullable<ConstructorParameters<typeof ServerInterceptingCall>[1]>

/** A call whose answers are counted until its client has read them. A client that reads nothing for `stallMs` is cut off. */
export class MeteredCall extends ServerInterceptingCall {
  readonly #wire: ServerInterceptingCallInterface
  readonly #method: Definition
  readonly #meter: Meter
  #reader: AnswerReader = { address: '' }
  #note: (bytes: number) => void = () => {}
  #hasFailed = false

  constructor(wire: ServerInterceptingCallInterface, responder: Responder, method: Definition, meter: Meter) {
    super(wire, responder)
    this.#wire = wire
    this.#method = method
    this.#meter = meter
  }

  /**
   * Counts the call's answers for their reader.
   * @param note called with the bytes of each answer
   */
  count(reader: AnswerReader, note: (bytes: number) => void): void {
    this.#reader = reader
    this.#note = note
  }

  override sendMessage(message: unknown, callback: () => void): void {
    const { unread, stallMs } = this.#meter
    const reader = this.#reader
    const bytes = this.#encode(message)
    if (!bytes) {
      // A caller that waits for the event of a stream must not wait for ever. Without a stream, a second status would follow.
      if (this.#method.responseStream) callback()
      return
    }
    const stream = streamOf(this.#wire)
    // Of a client that has gone away nobody reads the answer, and no further `close` tells that it is over. grpc-js drops it.
    if (stream.destroyed) {
      super.sendMessage(bytes, callback)
      return
    }
    this.#note(bytes.length)
    const taken = unread.add(reader, bytes.length)
    stream.once('close', taken)
    // Node's time-out runs from the last byte sent, so a slow client is not cut off.
    if (stream.listenerCount('timeout') === 0) {
      stream.setTimeout(stallMs, () => {
        if (stream.writableLength > 0) stream.close(constants.NGHTTP2_CANCEL)
      })
    }
    super.sendMessage(bytes, () => {
      stream.off('close', taken)
      taken()
      callback()
    })
  }

  /**
   * Encodes an answer here, where its size can be refused. `countingBytes` lets bytes pass when the message is written. Undefined: it was
   * refused, or cannot be encoded, and the call has its status.
   */
  #encode(message: unknown): Buffer | undefined {
    if (this.#hasFailed) return undefined
    try {
      const bytes = this.#method.responseSerialize(message)
      if (!this.#method.responseStream) this.#meter.unread.requireRoom(this.#reader, bytes.length)
      return bytes
    } catch (error) {
      this.#hasFailed = true
      this.sendStatus(this.#meter.refusal(error))
      return undefined
    }
  }
}

/** The HTTP/2 stream of a call. grpc-js cannot end a call whose client reads nothing: a status is queued after the unread answers. */
function streamOf(wire: ServerInterceptingCallInterface): ServerHttp2Stream {
  const { stream } = wire as unknown as { stream?: ServerHttp2Stream }
  if (!stream) throw new Error('This version of @grpc/grpc-js keeps the HTTP/2 stream of a call elsewhere.')
  return stream
}

type Service = Readonly<Record<string, Definition>>

const sizes = new WeakMap<object, number>()

/** The size of a request on the wire, if its service was prepared by `countingBytes`; otherwise 0. */
export function bytesOf(message: object): number {
  return sizes.get(message) ?? 0
}

/** Prepares a service for `MeteredCall` and `bytesOf`: encoded answers pass as they are, and the sizes of requests are kept. */
export function countingBytes<S extends object>(service: S): S {
  const methods = Object.entries(service as Service).map(([name, method]) => {
    const { responseSerialize, requestDeserialize } = method
    const serialize = (value: unknown): Buffer => (Buffer.isBuffer(value) ? value : responseSerialize(value))
    const deserialize = (bytes: Buffer): unknown => {
      const message = requestDeserialize(bytes) as object
      sizes.set(message, bytes.length)
      return message
    }
    return [name, { ...method, responseSerialize: serialize, requestDeserialize: deserialize }]
  })
  return Object.fromEntries(methods) as S
}
