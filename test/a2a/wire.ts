import type { JsonObject } from '../../src/lib/json.ts'
import type { Answer, TestAgent, TestGateway } from '../support/gateway.ts'

type Headers = Record<string, string>

/** Calls by hand to one agent with one key: what the SDK's client would never send. */
export function wireTo(gateway: TestGateway, agent: TestAgent, key: string | null) {
  const path = `/agents/${agent.handle.slice(1)}`
  return {
    /** A JSON-RPC body as it is; v1.0 unless the headers say otherwise. */
    post: (body: unknown, headers: Headers = {}): Promise<Answer> =>
      gateway.call('POST', path, body, { key, headers: { 'A2A-Version': '1.0', ...headers } }),
    rpc: (method: string, params?: unknown, headers: Headers = {}): Promise<Answer> =>
      gateway.call(
        'POST',
        path,
        { jsonrpc: '2.0', id: 7, method, params },
        {
          key,
          headers: { 'A2A-Version': '1.0', ...headers },
        },
      ),
    rest: (method: string, below: string, body?: unknown, headers: Headers = {}): Promise<Answer> =>
      gateway.call(method, path + below, body, { key, headers: { 'A2A-Version': '1.0', ...headers } }),
  }
}

export function message(fields: JsonObject = {}): JsonObject {
  return { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'hello' }], ...fields }
}

export function sending(fields: JsonObject = {}, configuration: JsonObject = {}): JsonObject {
  return { message: message(fields), configuration: { returnImmediately: true, ...configuration } }
}

export const legacy = { 'A2A-Version': '0.3' }

export const errorInfo = { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', domain: 'a2a-protocol.org' }
