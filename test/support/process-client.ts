import type { JsonObject } from '../../src/lib/json.ts'
import { ask } from './request.ts'

export interface ProcessAnswer {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the wire carries
  readonly body: any
}

export interface ProcessAgent {
  readonly handle: string
  readonly key: string
}

/** The calls of a test to a gateway that it cannot reach into. Calls reject when no gateway answers. */
export interface ProcessClient {
  readonly url: string
  readonly adminKey: string
  call(
    method: string,
    path: string,
    body?: unknown,
    options?: { key?: string; headers?: Record<string, string> },
  ): Promise<ProcessAnswer>
  addAgent(handle: string): Promise<ProcessAgent>
  /** An `a2a-webhook` subscription with window 0 unless the metadata says otherwise. */
  subscribe(
    agent: ProcessAgent,
    url: string,
    input?: { trigger?: string; metadata?: JsonObject; filters?: JsonObject },
  ): Promise<{ id: string; signingKey: string }>
  /** Sends an A2A v1.0 message and answers the task, once the gateway has said that it has it. */
  send(
    to: ProcessAgent,
    text: string,
    configuration?: JsonObject,
    options?: { key?: string; headers?: Record<string, string>; metadata?: JsonObject; messageId?: string },
  ): Promise<JsonObject & { id: string }>
}

// A gateway that answers neither yes nor no is a failure to see, not one to wait for.
const requestMaxMs = 30_000

export function connectClient(url: string, adminKey: string): ProcessClient {
  const request = async (method: string, path: string, body: unknown, headers: Record<string, string>) => {
    const type: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' }
    const text = body === undefined ? undefined : JSON.stringify(body)
    const answer = await ask(url + path, method, { ...headers, ...type }, text, AbortSignal.timeout(requestMaxMs))
    return {
      status: answer.status,
      get headers() {
        return answer.headers
      },
      body: answer.text === '' ? undefined : JSON.parse(answer.text),
    }
  }
  const call: ProcessClient['call'] = (method, path, body, { key = adminKey, headers = {} } = {}) =>
    request(method, path, body, { authorization: `Bearer ${key}`, ...headers })

  return {
    url,
    adminKey,
    call,
    async addAgent(handle) {
      const { body } = await call('POST', '/v1/agents', { handle })
      return { handle, key: body.apiKey }
    },
    async subscribe(agent, target, { trigger = 'TASK_STATE_CHANGED', metadata = {}, filters = {} } = {}) {
      const harnessTargetMetadata = { url: target, coalesceWindow: 0, ...metadata }
      const input = { trigger, filters, harnessTarget: 'a2a-webhook', harnessTargetMetadata }
      const { status, body } = await call('POST', '/v1/wake-subscriptions', input, { key: agent.key })
      if (status !== 201) throw new Error(`subscribe: ${JSON.stringify(body)}`)
      return { id: body.subscriptionId, signingKey: body.signingKey }
    },
    async send(to, text, configuration = { returnImmediately: true }, options = {}) {
      const { key = adminKey, headers = {}, metadata, messageId = crypto.randomUUID() } = options
      const message = { messageId, role: 'ROLE_USER', parts: [{ text }], ...(metadata ? { metadata } : {}) }
      const rpc = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message, configuration } }
      const { status, body } = await request('POST', `/agents/${to.handle.slice(1)}`, rpc, {
        authorization: `Bearer ${key}`,
        'A2A-Version': '1.0',
        ...headers,
      })
      if (!body.result) throw new Error(`send: ${status} ${JSON.stringify(body.error ?? body)}`)
      return body.result.task
    },
  }
}
