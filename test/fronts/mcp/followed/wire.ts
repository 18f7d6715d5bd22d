import type { Transport } from '@modelcontextprotocol/server'
import type { JsonObject } from '../../../../src/lib/json.ts'
import type { TestAgent, TestGateway } from '../../../support/gateway.ts'

const version = '2026-07-28'
const extension = 'io.modelcontextprotocol/tasks'

/** The result of a request, or its error. */
// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the wire carries
type Answered = any

/** A client of MCP that speaks as Claude Code does: it declares the extension in each request, unless other capabilities are given. */
export interface Follower {
  ask(method: string, params?: JsonObject, declared?: JsonObject): Promise<Answered>
  /** Calls a tool. */
  run(name: string, args?: JsonObject, declared?: JsonObject): Promise<Answered>
  /** Polls until the task has an end, as often as a client does. */
  followed(taskId: string): Promise<Answered>
}

export const declared: JsonObject = { extensions: { [extension]: {} } }

function requestOf(id: number, method: string, params: JsonObject, capabilities: JsonObject) {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': version,
    'io.modelcontextprotocol/clientInfo': { name: 'claude-code', version: '2.1.332' },
    'io.modelcontextprotocol/clientCapabilities': capabilities,
  }
  return { jsonrpc: '2.0' as const, id, method, params: { ...params, _meta } }
}

function followerOf(
  send: (method: string, params: JsonObject, capabilities: JsonObject) => Promise<Answered>,
): Follower {
  const ask: Follower['ask'] = (method, params = {}, capabilities = declared) => send(method, params, capabilities)
  return {
    ask,
    run: (name, args = {}, capabilities) => ask('tools/call', { name, arguments: args }, capabilities),
    async followed(taskId) {
      for (;;) {
        const task = await ask('tasks/get', { taskId })
        if (task.status !== 'working') return task
      }
    },
  }
}

/** The client over HTTP. */
export function overHttp(
  gateway: Pick<TestGateway, 'url'>,
  { key }: Pick<TestAgent, 'key'>,
  signal?: AbortSignal,
  path = '/mcp',
): Follower {
  let id = 0
  return followerOf(async (method, params, capabilities) => {
    const name = params.taskId ?? params.name
    const answer = await fetch(gateway.url + path, {
      method: 'POST',
      headers: {
        accept: 'application/json, text/event-stream',
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'mcp-protocol-version': version,
        'mcp-method': method,
        ...(typeof name === 'string' ? { 'mcp-name': name } : {}),
      },
      body: JSON.stringify(requestOf(++id, method, params, capabilities)),
      ...(signal ? { signal } : {}),
    })
    const { result, error } = (await answer.json()) as Answered
    return result ?? { ...error, httpStatus: answer.status }
  })
}

/** The client over the standard streams of `rouse mcp`. */
export async function overStreams(transport: Transport): Promise<Follower> {
  let id = 0
  const waiting = new Map<unknown, (answer: Answered) => void>()
  transport.onmessage = (message: Answered) => waiting.get(message.id)?.(message.result ?? message.error)
  await transport.start()
  const client = followerOf(async (method, params, capabilities) => {
    const request = requestOf(++id, method, params, capabilities)
    const answered = new Promise<Answered>((resolve) => waiting.set(request.id, resolve))
    await transport.send(request)
    return answered
  })
  await client.ask('server/discover')
  return client
}
