import { SendMessageRequest, type StreamResponse, type Task, TaskState } from '@a2a-js/sdk'
import {
  type CallInterceptor,
  type Client,
  ClientFactory,
  createAuthenticatingFetchWithRetry,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from '@a2a-js/sdk/client'
import { GrpcTransportFactory } from '@a2a-js/sdk/client/grpc'
import type { Interceptor } from '@grpc/grpc-js'
import { tenantExtensionUri } from '../../src/agent-card/card.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import type { TestAgent } from '../support/gateway.ts'

export interface Dialect {
  readonly version: '1.0' | '0.3'
  readonly binding: 'JSONRPC' | 'HTTP+JSON' | 'GRPC'
}

export const dialects: readonly Dialect[] = [
  { version: '1.0', binding: 'JSONRPC' },
  { version: '1.0', binding: 'HTTP+JSON' },
  { version: '1.0', binding: 'GRPC' },
  { version: '0.3', binding: 'JSONRPC' },
  { version: '0.3', binding: 'HTTP+JSON' },
  { version: '0.3', binding: 'GRPC' },
]

/** v0.3 over REST and gRPC is its protobuf: without referenceTaskIds, and 0 is the same as unset. */
export function isLegacyProto({ version, binding }: Dialect): boolean {
  return version === '0.3' && binding !== 'JSONRPC'
}

export const current = dialects.filter(({ version }) => version === '1.0')
export const currentHttp = current.filter(({ binding }) => binding !== 'GRPC')

/** Parts that its calls pass on their way. */
interface Via {
  readonly fetch?: typeof globalThis.fetch
  readonly interceptors?: Interceptor[]
}

/** The SDK's client as it is, from the agent's address alone: it finds the card and picks the interface itself. */
export function connect(
  gateway: { url: string },
  agent: Pick<TestAgent, 'handle'>,
  key: string,
  { version, binding }: Dialect,
  { fetch = globalThis.fetch, interceptors = [] }: Via = {},
): Promise<Client> {
  const fetchImpl = createAuthenticatingFetchWithRetry(fetch, {
    headers: async () => ({ Authorization: `Bearer ${key}` }),
    shouldRetryWithHeaders: async () => undefined,
  })
  const legacyCompat = { enabled: version === '0.3' }
  // A client of v0.3 asks for the card without a version of its own; ours has to say which card it wants.
  const fetchCard: typeof fetch = (input, init) =>
    fetch(input, version === '0.3' ? { ...init, headers: { 'A2A-Version': '0.3' } } : init)
  const transports = {
    JSONRPC: new JsonRpcTransportFactory({ fetchImpl, legacyCompat }),
    'HTTP+JSON': new RestTransportFactory({ fetchImpl, legacyCompat }),
    GRPC: new GrpcTransportFactory({ legacyCompat, grpcCallOptions: { interceptors } }),
  }
  const factory = new ClientFactory({
    transports: [transports[binding]],
    cardResolver: new DefaultAgentCardResolver({ fetchImpl: fetchCard, legacyCompat }),
    clientConfig: { interceptors: binding === 'GRPC' ? [sendMetadata(key, version)] : [] },
  })
  return factory.createFromUrl(`${gateway.url}/agents/${agent.handle.slice(1)}/`)
}

/** Over gRPC the key travels as metadata, and in v0.3 the agent's tenant too: the card says how. */
function sendMetadata(key: string, version: string): CallInterceptor {
  return {
    async before(args) {
      const { extensions = [] } = args.agentCard.capabilities ?? {}
      const tenant = extensions.find(({ uri }) => uri === tenantExtensionUri)?.params?.metadata as Record<
        string,
        string
      >
      const serviceParameters = { ...args.options?.serviceParameters, authorization: `Bearer ${key}` }
      args.options = {
        ...args.options,
        serviceParameters: version === '0.3' ? { ...serviceParameters, ...tenant } : serviceParameters,
      }
    },
    async after() {},
  }
}

/** A request with one text; everything else as the SDK fills it in. */
export function saying(text: string, message: JsonObject = {}, configuration?: JsonObject): SendMessageRequest {
  return SendMessageRequest.fromJSON({
    message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }], ...message },
    configuration,
  })
}

export const atOnce = { returnImmediately: true }

export async function sendForTask(client: Client, request: SendMessageRequest): Promise<Task> {
  const result = await client.sendMessage(request)
  if ('messageId' in result) throw new Error('A message came where a task was expected.')
  return result
}

/** A stream in words: `task submitted`, `status working`, `artifact one`. */
export function tell({ payload }: StreamResponse): string {
  if (payload?.$case === 'task') return `task ${stateOf(payload.value)}`
  if (payload?.$case === 'statusUpdate') return `status ${stateOf(payload.value)}`
  if (payload?.$case === 'artifactUpdate') return `artifact ${textOf(payload.value.artifact?.parts)}`
  return String(payload?.$case)
}

export async function collect(stream: AsyncIterable<StreamResponse>): Promise<string[]> {
  const received: string[] = []
  for await (const event of stream) received.push(tell(event))
  return received
}

/** `input-required` for TASK_STATE_INPUT_REQUIRED. */
export function stateOf({ status }: Pick<Task, 'status'>): string {
  return (TaskState[status?.state ?? 0] ?? '').replace('TASK_STATE_', '').toLowerCase().replace('_', '-')
}

export function textOf(parts: { content?: { $case: string; value: unknown } | undefined }[] = []): string {
  return parts.map(({ content }) => (content?.$case === 'text' ? String(content.value) : '?')).join('')
}
