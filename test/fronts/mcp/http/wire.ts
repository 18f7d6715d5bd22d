import type { Answer, TestAgent, TestGateway } from '../../../support/gateway.ts'

const accept = { accept: 'application/json, text/event-stream' }

export const initialize = (params: object = {}) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
    ...params,
  },
})

export const ping = { jsonrpc: '2.0', id: 2, method: 'ping' }

/** Sends a body to `/mcp`. */
export function post(
  gateway: TestGateway,
  { key }: Pick<TestAgent, 'key'>,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  return gateway.call('POST', '/mcp', body, { key, headers: { ...accept, ...headers } })
}

/** Begins a session, and returns the header that names it. */
export async function beginSession(
  gateway: TestGateway,
  agent: Pick<TestAgent, 'key'>,
  params: object = {},
): Promise<Record<string, string>> {
  const { headers, status, body } = await post(gateway, agent, initialize(params))
  if (status !== 200) throw new Error(`beginSession: ${status} ${JSON.stringify(body)}`)
  return { 'mcp-session-id': headers.get('mcp-session-id')! }
}

/** A notification, with the id of its event. */
interface Notified {
  readonly id: string
  readonly method: string
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the wire carries
  readonly params: any
}

/** A reader of a session's stream, at the level of its bytes. */
export interface SessionReader extends AsyncDisposable {
  readonly status: number
  readonly notifications: readonly Notified[]
  /** The id of the last event, with or without data. */
  readonly lastId: string
  readonly hasEnded: boolean
}

/** Opens the stream of a session. */
export async function openStream(
  gateway: Pick<TestGateway, 'url'>,
  { key }: Pick<TestAgent, 'key'>,
  headers: Record<string, string>,
): Promise<SessionReader> {
  const closing = new AbortController()
  const response = await fetch(`${gateway.url}/mcp`, {
    headers: { accept: 'text/event-stream', authorization: `Bearer ${key}`, ...headers },
    signal: closing.signal,
  })
  const notifications: Notified[] = []
  const seen = { lastId: '', hasEnded: false }
  const take = (block: string): void => {
    const fields = Object.fromEntries(block.split('\n').map((line) => line.split(/: ?(.*)/s, 2) as [string, string]))
    if (fields.id) seen.lastId = fields.id
    if (fields.event === 'message') notifications.push({ id: fields.id!, ...JSON.parse(fields.data!) })
  }
  const reading = (async () => {
    let text = ''
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      text += chunk
      const blocks = text.split('\n\n')
      text = blocks.pop()!
      for (const block of blocks) take(block)
    }
  })()
    .catch(() => {})
    .finally(() => {
      seen.hasEnded = true
    })
  return {
    status: response.status,
    notifications,
    get lastId() {
      return seen.lastId
    },
    get hasEnded() {
      return seen.hasEnded
    },
    async [Symbol.asyncDispose]() {
      closing.abort()
      await reading
    },
  }
}
