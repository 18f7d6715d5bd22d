import { SendMessageRequest } from '@a2a-js/sdk'
import type { JsonObject } from '../../src/lib/json.ts'
import { bearer, rawClient } from '../grpc/raw-client.ts'
import type { TestAgent, TestGateway } from '../support/gateway.ts'

/** The outcome of a send, the same for every binding: the id of the task, or the reason of the refusal. */
export interface Said {
  readonly taskId?: string | undefined
  readonly refusal?: string | undefined
  /** The metadata of the refusal's ErrorInfo. */
  readonly metadata?: Record<string, string> | undefined
  /** True when the refusal is the request's fault, in the words of the binding. */
  readonly isTheirs: boolean
}

type Way = (message: JsonObject, more?: JsonObject, acceptedOutputModes?: string[]) => Promise<Said>

/** The differences to a v1.0 message. `request` metadata is beside the message everywhere. */
const plain = { role: 'ROLE_USER', parts: [{ text: 'hello' }] }

/**
 * Sends by hand over every binding in both versions. `message` is ProtoJSON of v1.0; `more` is metadata of the request. v0.3 has a file
 * name and a media type in parts with `url` or `raw` only, and no file name but over JSON-RPC.
 */
export function sixWays(gateway: TestGateway, to: TestAgent, from: TestAgent): Record<string, Way> & Disposable {
  const path = `/agents/${to.handle.slice(1)}`
  const tenant = path.slice(1)
  const current = rawClient(gateway.grpcTarget)
  const legacy = rawClient(gateway.grpcTarget, '0.3')
  const call = (at: string, body: object, version: string) =>
    gateway.call('POST', at, body, { key: from.key, headers: { 'A2A-Version': version } })
  const whole = (message: JsonObject): JsonObject => ({ messageId: crypto.randomUUID(), ...plain, ...message })

  return {
    'JSON-RPC 1.0': async (message, metadata, acceptedOutputModes = []) => {
      const params = {
        message: whole(message),
        configuration: { returnImmediately: true, acceptedOutputModes },
        metadata,
      }
      return fromRpc((await call(path, { jsonrpc: '2.0', id: 1, method: 'SendMessage', params }, '1.0')).body)
    },
    'HTTP+JSON 1.0': async (message, metadata, acceptedOutputModes = []) => {
      const params = {
        message: whole(message),
        configuration: { returnImmediately: true, acceptedOutputModes },
        metadata,
      }
      return fromRest(await call(`${path}/message:send`, params, '1.0'))
    },
    'gRPC 1.0': async (message, metadata, acceptedOutputModes = []) => {
      const request = {
        tenant,
        message: whole(message),
        configuration: { returnImmediately: true, acceptedOutputModes },
        metadata,
      }
      return fromGrpc(await current.unary('sendMessage', SendMessageRequest.fromJSON(request), bearer(from.key)))
    },
    'JSON-RPC 0.3': async (message, metadata, acceptedOutputModes = []) => {
      const { parts, role: _, ...rest } = whole(message)
      const said = { kind: 'message', role: 'user', ...rest, parts: (parts as JsonObject[]).map(legacyPart) }
      const params = { message: said, configuration: { blocking: false, acceptedOutputModes }, metadata }
      return fromRpc((await call(path, { jsonrpc: '2.0', id: 1, method: 'message/send', params }, '0.3')).body)
    },
    'HTTP+JSON 0.3': async (message, metadata, acceptedOutputModes = []) => {
      const { parts, ...rest } = whole(message)
      const content = (parts as JsonObject[]).map(legacyProtoPart)
      const params = {
        message: { ...rest, content },
        configuration: { blocking: false, acceptedOutputModes },
        metadata,
      }
      return fromRest(await call(`${path}/v1/message:send`, params, '0.3'))
    },
    'gRPC 0.3': async (message, metadata, acceptedOutputModes = []) => {
      const { parts, role: _, ...rest } = whole(message)
      const content = (parts as JsonObject[]).map(legacyWirePart)
      const request = { contextId: '', taskId: '', extensions: [], ...rest, role: 1, content }
      const configuration = { acceptedOutputModes, historyLength: 0, blocking: false }
      const sent = bearer(from.key, { 'a2a-tenant': tenant })
      return fromGrpc(await legacy.unary('sendMessage', { request, configuration, metadata }, sent))
    },
    [Symbol.dispose]() {
      current[Symbol.dispose]()
      legacy[Symbol.dispose]()
    },
  } as Record<string, Way> & Disposable
}

function legacyPart({ text, mediaType, ...rest }: JsonObject): JsonObject {
  const { url, raw, filename, ...others } = rest
  if (url === undefined && raw === undefined) return { kind: 'text', text: text ?? '', ...rest }
  const content = url === undefined ? { bytes: raw } : { uri: url }
  return { kind: 'file', file: { ...content, name: filename, mimeType: mediaType }, ...others }
}

/** The JSON of v0.3's protocol buffers. Its files have no name. */
function legacyProtoPart({ url, raw, mediaType, filename, ...rest }: JsonObject): JsonObject {
  if (url === undefined && raw === undefined) return { mediaType, filename, ...rest }
  const content = url === undefined ? { fileWithBytes: raw } : { fileWithUri: url }
  return { file: { ...content, mimeType: mediaType }, ...rest }
}

function legacyWirePart({ text = '', url, raw, mediaType = '' }: JsonObject): object {
  if (url === undefined && raw === undefined) return { part: { $case: 'text', value: text } }
  const file =
    url === undefined
      ? { $case: 'fileWithBytes', value: Buffer.from(String(raw), 'base64') }
      : { $case: 'fileWithUri', value: url }
  return { part: { $case: 'file', value: { file, mimeType: mediaType } } }
}

// biome-ignore lint/suspicious/noExplicitAny: what the wire carries
function fromRpc({ result, error }: any): Said {
  const isTheirs = error?.code !== undefined && error.code !== -32603
  return {
    taskId: result?.task?.id ?? result?.id,
    refusal: error?.message,
    metadata: error?.data?.[0]?.metadata,
    isTheirs,
  }
}

// biome-ignore lint/suspicious/noExplicitAny: what the wire carries
function fromRest({ status, body }: { status: number; body: any }): Said {
  const refusal = status < 300 ? undefined : (body.error?.message ?? body.message)
  const metadata = body.error?.details?.[0]?.metadata
  return { taskId: body.task?.id ?? body.id, refusal, metadata, isTheirs: status >= 400 && status < 500 }
}

// biome-ignore lint/suspicious/noExplicitAny: what the wire carries
function fromGrpc(answer: any): Said {
  const theirs = [3, 5, 8, 9]
  const { value, details: refusal, info: metadata, code } = answer
  return { taskId: value?.payload?.value?.id, refusal, metadata, isTheirs: theirs.includes(code) }
}

export const ways = ['JSON-RPC 1.0', 'HTTP+JSON 1.0', 'gRPC 1.0', 'JSON-RPC 0.3', 'HTTP+JSON 0.3', 'gRPC 0.3'] as const
