import { once } from 'node:events'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import type { Overrides } from '../../src/gateway/app.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { type Files, pretty } from './fixture.ts'
import { createPlaceholders } from './placeholders.ts'

/** A request as a client makes it. A text as body is sent as it is, anything else as JSON. */
export interface Request {
  readonly method: string
  readonly path: string
  /** Defaults to the operator's key; null sends none. */
  readonly key?: string | null
  readonly headers?: Record<string, string>
  readonly body?: unknown
  /** The body is announced, and only its first byte is sent. */
  readonly isSlow?: true
  /** Calls that others make while an answer is streamed, each once its text has come: `''` with the first bytes. */
  readonly meanwhile?: readonly (readonly [text: string, act: () => Promise<unknown>])[]
  /** Undoes what the case has done outside the gateway, after the answer. */
  readonly after?: () => void
}

export interface World {
  readonly gateway: TestGateway
  readonly clock: FakeClock
}

/** Brings a gateway into a state and says what to ask of it there. */
export type Arrange = (world: World) => Promise<Request> | Request

/** A whole gateway of its own with a fixed clock and address, so that no case depends on another. */
export async function inWorld<T>(
  act: (world: World) => Promise<T>,
  more: Overrides = {},
  settings: Record<string, string> = {},
): Promise<T> {
  const clock = new FakeClock()
  const env = {
    ROUSE_PUBLIC_URL: 'https://rouse.example',
    ROUSE_GRPC_PUBLIC_TARGET: 'rouse.example:4521',
    ROUSE_WEBHOOK_ALLOW: '127.0.0.0/8',
    ...settings,
  }
  await using gateway = await startGateway({ env, overrides: { clock, random: () => 0, ...more } })
  return await act({ gateway, clock })
}

/** A world with two agents. */
export interface Office extends World {
  readonly donna: TestAgent
  readonly lola: TestAgent
}

export function inOffice<T>(
  act: (office: Office) => Promise<T>,
  settings: Record<string, string> = {},
  fields: JsonObject = {},
): Promise<T> {
  const open = async (world: World) => {
    const donna = await world.gateway.addAgent('@donna', fields)
    return act({ ...world, donna, lola: await world.gateway.addAgent('@lola') })
  }
  return inWorld(open, {}, settings)
}

/** Makes the request that `arrange` asks for, and writes both halves down. `more`: for a gateway that is not as usual. */
export function exchange(arrange: Arrange, more: Overrides = {}): Promise<Files> {
  return inWorld(async (world) => record(world.gateway, await arrange(world)), more)
}

/** Makes a request, and writes it and its answer down. */
export async function record(gateway: Pick<TestGateway, 'adminKey' | 'url'>, asks: Request): Promise<Files> {
  const { method, path, key = gateway.adminKey, headers = {}, body, isSlow, after } = asks
  const sentHeaders = {
    ...(key === null ? {} : { authorization: `Bearer ${key}` }),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...headers,
  }
  const send = isSlow ? fetchSlowly : headers.host === undefined ? fetch : fetchAs(headers.host)
  const response = await send(gateway.url + path, {
    method,
    headers: sentHeaders,
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await readAnswer(response, asks)
  after?.()
  const stable = createPlaceholders()
  const request = { method, path, headers: sentHeaders, ...(body === undefined ? {} : { body }) }
  const answer = answerOf(response, text)
  return { 'request.json': stable(pretty(request)), 'answer.json': stable(pretty(answer)) }
}

/** An answer as it is written down. */
export function answerOf({ status, headers }: Pick<Response, 'status' | 'headers'>, text: string): object {
  return {
    status,
    headers: stableHeaders(Object.fromEntries(headers)),
    ...(text === '' ? {} : { body: readable(text, headers.get('content-type')) }),
  }
}

interface Sent {
  readonly method: string
  readonly headers: Record<string, string>
  readonly body?: string
}

/** `fetch` with a name of the host that is not in the URL: `fetch` itself does not send one. */
const fetchAs =
  (host: string) =>
  (url: string, { method, headers }: Sent): Promise<Response> =>
    answerTo(request(url, { method, headers: { ...headers, host } }).end())

/** `fetch` that sends the first byte of the body, and no more. */
const fetchSlowly = async (url: string, { method, headers, body = '' }: Sent): Promise<Response> => {
  const asking = request(url, { method, headers: { ...headers, 'content-length': Buffer.byteLength(body) } })
  asking.write(body.slice(0, 1))
  const answer = await answerTo(asking)
  asking.destroy()
  return answer
}

async function answerTo(asking: ClientRequest): Promise<Response> {
  const [answer] = (await once(asking, 'response')) as [IncomingMessage]
  const answered = Object.entries(answer.headers).map(([name, value]): [string, string] => [name, String(value)])
  return new Response(Buffer.concat(await answer.toArray()), { status: answer.statusCode ?? 0, headers: answered })
}

/** Headers of the transport and headers for browsers (test/fronts/edge.test.ts) are not part of the contract. */
const transportHeaders = new Set(
  'strict-transport-security content-security-policy cross-origin-resource-policy referrer-policy x-content-type-options accept accept-encoding accept-language connection content-length date host keep-alive sec-fetch-mode transfer-encoding user-agent x-request-id'.split(
    ' ',
  ),
)

export function stableHeaders(headers: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => !transportHeaders.has(name.toLowerCase()))
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  )
}

async function readAnswer(response: Response, { meanwhile = [] }: Request): Promise<string> {
  const decoder = new TextDecoder()
  const acts = [...meanwhile]
  let text = ''
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true })
    while (acts[0] && text.includes(acts[0][0])) await acts.shift()![1]()
  }
  return text
}

/** JSON as its value; a stream of events as their texts, one on a line; anything else as it is. */
function readable(text: string, type: string | null): unknown {
  if (type?.startsWith('text/event-stream')) return text.split('\n\n').slice(0, -1)
  return text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : text
}
