import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  createMCPClient,
  experimental_createMCPEventWebhook as createWebhook,
  type MCPClient,
  type Experimental_MCPEvent as McpEvent,
  type Experimental_MCPEventStore as McpEventStore,
  type Experimental_MCPEventSubscription as McpEventSubscription,
} from '@ai-sdk/mcp'
import type { TestAgent, TestGateway } from '../../../support/gateway.ts'
import { until } from '../../../support/until.ts'

/** A request that the program has got, and how it was answered. */
interface Heard {
  readonly headers: IncomingMessage['headers']
  readonly raw: string
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the wire carries
  readonly body: any
  readonly status: number
}

/** Says how a request is answered instead of by the AI SDK: with a status and a body; undefined: by the AI SDK. */
type Instead = (
  heard: Omit<Heard, 'status'>,
  nth: number,
) => { status: number; body?: string; headers?: Record<string, string> } | undefined

class MemoryStore implements McpEventStore {
  readonly rows = new Map<string, McpEventSubscription>()
  async get(key: string) {
    return this.rows.get(key)
  }
  async getById(id: string) {
    return [...this.rows.values()].find((row) => row.id === id)
  }
  async set(row: McpEventSubscription) {
    this.rows.set(row.key, row)
  }
  async update(key: string, patch: Partial<McpEventSubscription>) {
    const row = this.rows.get(key)
    if (row) this.rows.set(key, { ...row, ...patch })
  }
  async delete(key: string) {
    this.rows.delete(key)
  }
}

/** A program with the unmodified AI SDK: its client of MCP, and its webhook on loopback. */
export async function startAiProgram(gateway: TestGateway, agent: TestAgent, era: 'modern' | 'sessions' = 'modern') {
  const store = new MemoryStore()
  const events: McpEvent[] = []
  const ended: unknown[] = []
  const heard: Heard[] = []
  let instead: Instead = () => undefined
  const handle = createWebhook({
    store,
    onEvent: async ({ event }) => void events.push(event),
    onTerminated: async ({ termination }) => void ended.push(termination.error),
  })
  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = []
    for await (const chunk of req) chunks.push(chunk as Buffer)
    const raw = Buffer.concat(chunks).toString()
    const got = { headers: req.headers, raw, body: JSON.parse(raw) }
    const said = instead(got, heard.length + 1)
    if (said) {
      heard.push({ ...got, status: said.status })
      res.writeHead(said.status, said.headers).end(said.body)
      return
    }
    const answer = await handle(
      new Request(`http://127.0.0.1:${port}${req.url}`, { method: 'POST', headers: req.headers as never, body: raw }),
    )
    heard.push({ ...got, status: answer.status })
    res.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text())
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  const transport = {
    type: 'http' as const,
    url: `${gateway.url}/mcp`,
    headers: { Authorization: `Bearer ${agent.key}` },
  }
  const client = (await createMCPClient({
    transport,
    experimental_events: { store },
    ...(era === 'sessions' ? { protocolVersionDiscovery: false } : {}),
  } as never)) as unknown as MCPClient
  const url = `http://127.0.0.1:${port}/hook`
  return {
    store,
    /** The events that the program was told to act on. */
    events,
    /** The reasons for which the gateway has ended subscriptions. */
    ended,
    /** Every request to its webhook, challenges too. */
    heard,
    url,
    client,
    api: client.experimental_events,
    subscribe: (name: string, given: Record<string, unknown> = {}, more: Record<string, unknown> = {}) =>
      client.experimental_events.subscribe({
        name,
        arguments: given as never,
        delivery: { mode: 'webhook', url, allowInsecureLocalhost: true },
        ...more,
      }),
    answerWith(how: Instead) {
      instead = how
    },
    has: (count: number) =>
      until(
        () => events.length,
        (length) => length >= count,
      ),
    async [Symbol.asyncDispose]() {
      await client.close()
      await new Promise((done) => {
        server.close(done)
        server.closeAllConnections()
      })
    },
  }
}
