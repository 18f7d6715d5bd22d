import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { envToConfig } from '../../src/config/config.ts'
import { createApp, type Gateway, type Overrides } from '../../src/gateway/app.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { silentLogger } from '../../src/logger/logger.ts'
import { ask } from './request.ts'
import { storeEnv } from './store.ts'

export interface Answer {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the wire carries
  readonly body: any
}

export interface TestAgent {
  readonly handle: string
  readonly key: string
}

/** A whole gateway on a port of its own, with a data directory that goes when it does. */
export interface TestGateway extends AsyncDisposable {
  readonly url: string
  readonly grpcTarget: string | undefined
  readonly adminKey: string
  readonly dataDir: string
  /** One request; `key` defaults to the admin key, null sends none. */
  call(
    method: string,
    path: string,
    body?: unknown,
    options?: { key?: string | null; headers?: Record<string, string> },
  ): Promise<Answer>
  addAgent(handle: string, fields?: JsonObject): Promise<TestAgent>
  /** Subscribes with window 0 unless the metadata says otherwise. */
  subscribe(
    agent: TestAgent,
    url: string,
    input?: { trigger?: string; filters?: JsonObject; harnessTargetMetadata?: JsonObject; startFrom?: 'now' },
  ): Promise<{ id: string; signingKey: string }>
  /** Sends an A2A v1.0 message over JSON-RPC without waiting and answers the task. */
  send(
    to: string,
    text: string,
    options?: { key?: string; message?: JsonObject; headers?: Record<string, string>; configuration?: JsonObject },
  ): Promise<JsonObject & { id: string; contextId: string }>
  move(agent: TestAgent, taskId: string, to: string, fields?: JsonObject): Promise<Answer>
  /** Stops without removing the data directory, so that another can start on it. */
  stop(): Promise<void>
}

/** Takes away the rates of a project's agents, for a test that asks more than they would. */
export async function liftRates(gateway: TestGateway, project = 'default'): Promise<void> {
  const limits = {
    requestsPerMinute: 0,
    heavyPerMinute: 0,
    megabytesPerMinute: 0,
  }
  const { status } = await gateway.call('PATCH', `/v1/projects/${project}`, { limits })
  if (status !== 200) throw new Error(`liftRates: ${status}`)
}

export async function startGateway(
  options: { env?: Record<string, string>; dataDir?: string; overrides?: Overrides } = {},
): Promise<TestGateway> {
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'rouse-test-'))
  const store = await storeEnv(dataDir, options.env)
  const config = envToConfig({
    ROUSE_PORT: '0',
    ROUSE_GRPC_PORT: '0',
    ROUSE_DATA_DIR: dataDir,
    ...store,
    ...options.env,
  })
  const app: Gateway = createApp(config, { log: silentLogger, ...options.overrides })
  const { url, grpcTarget } = await app.start()

  const call: TestGateway['call'] = async (method, path, body, { key = app.adminKey, headers = {} } = {}) => {
    const answer = await ask(
      url + path,
      method,
      {
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      body === undefined || typeof body === 'string' ? body : JSON.stringify(body),
    )
    const { status, text } = answer
    return {
      status,
      get headers() {
        return answer.headers
      },
      body: text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : text,
    }
  }

  return {
    url,
    grpcTarget,
    adminKey: app.adminKey,
    dataDir,
    call,
    async addAgent(handle, fields = {}) {
      const { status, body } = await call('POST', '/v1/agents', { handle, ...fields })
      if (status !== 201) throw new Error(`addAgent: ${JSON.stringify(body)}`)
      return { handle: body.agent.handle, key: body.apiKey }
    },
    async subscribe(agent, target, input = {}) {
      const { trigger = 'TASK_STATE_CHANGED', harnessTargetMetadata = {}, ...rest } = input
      const metadata = { url: target, coalesceWindow: 0, ...harnessTargetMetadata }
      const request = { trigger, harnessTarget: 'a2a-webhook', harnessTargetMetadata: metadata, ...rest }
      const { status, body } = await call('POST', '/v1/wake-subscriptions', request, { key: agent.key })
      if (status !== 201) throw new Error(`subscribe: ${JSON.stringify(body)}`)
      return { id: body.subscriptionId, signingKey: body.signingKey }
    },
    async send(to, text, { key, message = {}, headers = {}, configuration = {} } = {}) {
      const params = {
        message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }], ...message },
        configuration: { returnImmediately: true, ...configuration },
      }
      const { body } = await call(
        'POST',
        `/agents/${to.replace(/^@/, '')}`,
        { jsonrpc: '2.0', id: 1, method: 'SendMessage', params },
        { ...(key === undefined ? {} : { key }), headers: { 'A2A-Version': '1.0', ...headers } },
      )
      if (body.error) throw new Error(`send: ${JSON.stringify(body.error)}`)
      return body.result.task
    },
    async move(agent, taskId, to, fields = {}) {
      const { body: task } = await call('GET', `/v1/tasks/${taskId}`, undefined, { key: agent.key })
      return call(
        'POST',
        `/v1/tasks/${taskId}/transitions`,
        { to, expectedVersion: task.version, ...fields },
        { key: agent.key },
      )
    },
    stop: () => app.stop(),
    async [Symbol.asyncDispose]() {
      await app.stop()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}
