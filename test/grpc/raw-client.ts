import { once } from 'node:events'
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2'
import { promisify } from 'node:util'
import type { StreamResponse } from '@a2a-js/sdk'
import { LegacyA2AService } from '@a2a-js/sdk/compat/v0_3/server/grpc'
import { decodeErrorInfo, decodeStatus } from '@a2a-js/sdk/errors/grpc'
import { A2AService } from '@a2a-js/sdk/server/grpc'
import {
  type CallOptions,
  type ChannelCredentials,
  type ClientReadableStream,
  credentials,
  Metadata,
  makeGenericClientConstructor,
  type ServiceError,
} from '@grpc/grpc-js'
import type { JsonObject } from '../../src/lib/json.ts'

const services = { '1.0': A2AService, '0.3': LegacyA2AService }

export interface Refusal {
  readonly code: number
  readonly details: string
  /** Of its google.rpc.ErrorInfo. */
  readonly reason: string | undefined
  readonly info: Record<string, string> | undefined
}

type Result = { readonly value: JsonObject } | Refusal

/** Calls by hand: what the SDK's client would never send. Closed with the test. */
export function rawClient(
  target: string | undefined,
  version: '1.0' | '0.3' = '1.0',
  channel: ChannelCredentials = credentials.createInsecure(),
) {
  const Client = makeGenericClientConstructor(services[version], 'A2AService')
  const client = new Client(String(target), channel)
  // biome-ignore lint/suspicious/noExplicitAny: methods are named by the service
  const methods = client as any
  return {
    unary: (method: string, request: object, sent: Record<string, string>, options: CallOptions = {}) =>
      new Promise<Result>((resolve) => {
        methods[method](request, metadataOf(sent), options, (error: ServiceError | null, value: JsonObject) =>
          resolve(error ? refusalOf(error) : { value }),
        )
      }),
    /** Begins a call. Returns the function that cancels it. */
    begin: (method: string, request: object, sent: Record<string, string>): (() => void) => {
      const call = methods[method](request, metadataOf(sent), () => {})
      return () => call.cancel()
    },
    stream: (method: string, request: object, sent: Record<string, string>) =>
      methods[method](request, metadataOf(sent)) as ClientReadableStream<StreamResponse>,
    [Symbol.dispose]: () => client.close(),
  }
}

/** A call whose message is on its way. */
interface HalfSent extends Disposable {
  /** Resolves when the gateway has read what was sent. */
  reached(): Promise<void>
  /** Sends the rest of the message. Resolves with the gRPC status of the answer. */
  sendRest(): Promise<number>
}

/** Sends a call by hand, without the last byte of its message. */
export function halfSent(
  target: string | undefined,
  {
    version = '1.0',
    method,
    message,
    sent,
  }: {
    version?: '1.0' | '0.3'
    method: string
    message: object
    sent: Record<string, string>
  },
): HalfSent {
  const { path, requestSerialize } = (services[version] as Record<string, RawMethod>)[method]!
  const bytes = requestSerialize(message)
  const prefix = Buffer.alloc(5)
  prefix.writeUInt32BE(bytes.length, 1)
  const session: ClientHttp2Session = connectHttp2(`http://${target}`)
  const headers = { ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers', ...sent }
  const stream = session.on('error', () => {}).request(headers)
  const status = new Promise<number>((resolve, reject) => {
    const take = (given: Record<string, unknown>): void => {
      if (given['grpc-status'] !== undefined) resolve(Number(given['grpc-status']))
    }
    stream.on('response', take).on('trailers', take).on('error', reject)
    stream.on('close', () => reject(new Error('The call has ended without a status.')))
  })
  status.catch(() => {})
  stream.resume()
  stream.write(Buffer.concat([prefix, bytes.subarray(0, -1)]))
  return {
    reached: async () => {
      if (session.connecting) await once(session, 'connect')
      await promisify(session.ping.bind(session) as (done: (error: Error | null) => void) => void)()
    },
    sendRest: () => {
      stream.end(bytes.subarray(-1))
      return status
    },
    [Symbol.dispose]: () => session.destroy(),
  }
}

interface RawMethod {
  readonly path: string
  readonly requestSerialize: (message: object) => Buffer
}

export function bearer(key: string, more: Record<string, string> = {}): Record<string, string> {
  return { authorization: `Bearer ${key}`, ...more }
}

export function refusalOf(error: ServiceError): Refusal {
  const [details] = error.metadata?.get('grpc-status-details-bin') ?? []
  const [any] = Buffer.isBuffer(details) ? decodeStatus(details).details : []
  const info = any && decodeErrorInfo(any.value)
  return { code: error.code, details: error.details, reason: info?.reason, info: info?.metadata }
}

function metadataOf(sent: Record<string, string>): Metadata {
  const metadata = new Metadata()
  for (const [name, value] of Object.entries(sent)) metadata.set(name, value)
  return metadata
}
