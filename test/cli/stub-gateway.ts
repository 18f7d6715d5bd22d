import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { AnswerOf, RouteName } from '../../src/client/gateway-client.ts'
import { routeTable } from '../../src/fronts/rest/route-table.ts'

export interface StubRequest {
  method: string
  path: string
  query: Record<string, string>
  headers: IncomingHttpHeaders
  body: unknown
}

/** A success of the gateway, one of its problems, or an answer of something that is no gateway. */
type StubAnswer<View> = { status?: number; json: View; headers?: Record<string, string> } | Problem | NoAnswer

interface NoAnswer {
  status?: number
  json?: undefined
  text?: string
  headers?: Record<string, string>
}

/** Without an answer it writes the response itself, or leaves it open. */
type StubHandler<View> = (request: StubRequest, response: ServerResponse) => StubAnswer<View> | undefined

/** The answers by route, with the types of the REST API; outside of that API by path. */
type StubAnswers = {
  readonly [Route in RouteName]?: StubAnswer<AnswerOf<Route>> | StubHandler<AnswerOf<Route>>
} & {
  readonly [Other in OtherRoute]?: StubAnswer<unknown> | StubHandler<unknown>
}

type OtherRoute = `POST /agents/${string}` | 'GET /readyz' | 'GET /.well-known/rouse-instance'

/** A gateway that gives these answers and records the requests. */
export async function startStubGateway(answers: StubAnswers) {
  const table = routeTable(Object.keys(answers).map((route) => ({ route: route as RouteName })))
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
    const known = answers[table.match(seen.method, seen.path)?.route.route as keyof StubAnswers]
    const answer = typeof known === 'function' ? known(seen, response) : known
    if (!answer && known) return
    write(response, answer ?? problem(404, 'not-found', 'No such resource'))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const stop = async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  return { url, requests, last: () => requests.at(-1)!, stop, [Symbol.asyncDispose]: stop }
}

function write(response: ServerResponse, answer: StubAnswer<unknown>): void {
  const { status = 200, json, headers } = answer
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  if ('text' in answer) response.end(answer.text)
  else response.end(json === undefined ? '' : JSON.stringify(json))
}

/** A refusal: may be the answer of any route. */
interface Problem {
  readonly status: number
  readonly json: { readonly status: number; readonly code: string; readonly title: string }
  readonly headers: Record<string, string>
}

export function problem(status: number, code: string, title: string, more: Record<string, unknown> = {}): Problem {
  const json = { type: `https://rouse.dev/problems/${code}`, title, status, code, ...more }
  return { status, json, headers: { 'content-type': 'application/problem+json' } }
}
