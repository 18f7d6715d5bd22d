import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface StubRequest {
  method: string
  path: string
  query: Record<string, string>
  headers: IncomingHttpHeaders
  body: unknown
}

export interface StubAnswer {
  status?: number
  json?: unknown
  text?: string
  headers?: Record<string, string>
}

/** Without an answer it writes the response itself, or leaves it open. */
export type StubHandler = (request: StubRequest, response: ServerResponse) => StubAnswer | undefined

/** A gateway that answers what it was told to, by `METHOD /path`, and remembers what it was asked. */
export async function startStubGateway(answers: Record<string, StubAnswer | StubHandler>) {
  const requests: StubRequest[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
    const url = new URL(request.url!, 'http://stub')
    const text = Buffer.concat(chunks).toString()
    const seen: StubRequest = {
      method: request.method!,
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      headers: request.headers,
      body: text ? JSON.parse(text) : undefined,
    }
    requests.push(seen)
    const known = answers[`${seen.method} ${seen.path}`]
    const answer = typeof known === 'function' ? known(seen, response) : known
    if (!answer && known) return
    const {
      status = 200,
      json,
      text: plain,
      headers,
    }: StubAnswer = answer ?? problem(404, 'not-found', 'No such resource')
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(plain ?? (json === undefined ? '' : JSON.stringify(json)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const stop = async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  return { url, requests, last: () => requests.at(-1)!, stop, [Symbol.asyncDispose]: stop }
}

export function problem(status: number, code: string, title: string, more: Record<string, unknown> = {}) {
  const json = { type: `https://rouse.dev/problems/${code}`, title, status, code, ...more }
  return { status, json, headers: { 'content-type': 'application/problem+json' } }
}
