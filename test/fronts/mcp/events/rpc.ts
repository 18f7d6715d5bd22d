import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestAgent, TestGateway } from '../../../support/gateway.ts'
import { beginSession, post } from '../http/wire.ts'

type Era = 'modern' | 'sessions'
export const eras: readonly Era[] = ['modern', 'sessions']

const version = '2026-07-28'
const meta = {
  'io.modelcontextprotocol/protocolVersion': version,
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}

/** Sends requests of MCP as bytes, in one era of the protocol. */
export async function speak(gateway: TestGateway, agent: Pick<TestAgent, 'key'>, era: Era) {
  const session = era === 'sessions' ? await beginSession(gateway, agent as TestAgent) : undefined
  const headersFor = (method: string): Record<string, string> =>
    session ?? { 'mcp-protocol-version': version, 'mcp-method': method }
  const request = (method: string, params: object = {}) => ({
    jsonrpc: '2.0',
    id: 7,
    method,
    params: session ? params : { ...params, _meta: meta },
  })
  return {
    /** Returns the result, or the error. */
    async ask(method: string, params?: object) {
      const { body } = await post(gateway, agent, request(method, params), headersFor(method))
      return (body.result ?? body.error) as Record<string, never>
    },
    /** Opens the stream of one request. */
    async stream(params: object) {
      const gone = new AbortController()
      const answer = await fetch(`${gateway.url}/mcp`, {
        method: 'POST',
        headers: {
          accept: 'application/json, text/event-stream',
          authorization: `Bearer ${agent.key}`,
          'content-type': 'application/json',
          ...headersFor('events/stream'),
        },
        body: JSON.stringify(request('events/stream', params)),
        signal: gone.signal,
      })
      // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the wire carries
      const frames: any[] = []
      const ended = readFrames(answer.body!, frames).catch(() => {})
      return { answer, frames, ended, close: () => gone.abort() }
    },
  }
}

async function readFrames(body: ReadableStream<Uint8Array>, frames: unknown[]): Promise<void> {
  let text = ''
  const decoder = new TextDecoder()
  const reader = body.getReader()
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    text += decoder.decode(next.value, { stream: true })
    const blocks = text.split('\n\n')
    text = blocks.pop()!
    for (const block of blocks) {
      const data = block.split('\n').find((line) => line.startsWith('data:'))
      if (data !== undefined && data.length > 6) frames.push(JSON.parse(data.slice(5)))
    }
  }
}

/** A receiver that sends challenges back and takes events. */
export async function startCallback() {
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the wire carries
  const heard: { headers: IncomingHttpHeaders; raw: string; body: any }[] = []
  let status = 204
  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = []
    for await (const chunk of req) chunks.push(chunk as Buffer)
    const raw = Buffer.concat(chunks).toString()
    const body = JSON.parse(raw)
    heard.push({ headers: req.headers, raw, body })
    if (body.type === 'verification') res.end(JSON.stringify({ challenge: body.challenge }))
    else if (status > 0) res.writeHead(status).end()
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/hook`,
    heard,
    /** The events, without challenges. */
    get events() {
      return heard.filter(({ body }) => body.type === undefined).map(({ body }) => body)
    },
    /** The status of every answer to an event. 0: there is none. */
    respond(how: number) {
      status = how
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}

export const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`
export const eventsEnv = { ROUSE_WEBHOOK_ALLOW: '127.0.0.0/8', ROUSE_MCP_EVENTS_ALLOW_HTTP: 'loopback' }
