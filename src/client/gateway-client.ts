import { type Clock, systemClock } from '../lib/clock.ts'
import type { JsonObject } from '../lib/json.ts'
import { once } from '../lib/once.ts'
import { readTraceparent } from '../lib/trace-parent.ts'
import { clientFetch, type Fetch, type FetchResponse } from './client-fetch.ts'
import { Refused, Unreachable, UsageError } from './failure.ts'
import { refusalOf } from './refusal.ts'
import type { AnswerOf, InputOf, RouteName, Transport } from './route-types.ts'
import { type OpenAnswer, openUntilSilent, silenceMsMax } from './silence.ts'
import { withTimeout } from './with-timeout.ts'

export type { AnswerOf, BodyOf, RouteName } from './route-types.ts'

/** Long enough for a large replay, short enough for a gateway that hangs. */
const defaultTimeoutMs = 60_000
/** For the question whose key was refused: the refusal is printed without the answer if need be. */
const whoseTimeoutMs = 2_000

/** Mail is for the harness: a command asks how much waits, and leaves it where it is. Source: D11. */
const mailHeader = 'rouse-pending-signals'

export interface GatewayClient {
  readonly url: string
  /** The project that it acts in, where one was named. */
  readonly project: string | undefined
  /** The key that it sends, and where it came from. */
  credentials(): Promise<Credentials>
  /** One request of the REST API. Returns its JSON answer. Errors: `Refused`, `Unreachable`. */
  call<Name extends RouteName>(route: Name, ...input: InputOf<Name>): Promise<AnswerOf<Name>>
  /** One request outside of the REST API. Returns its JSON answer. Errors: `Refused`, `Unreachable`. */
  request(method: string, path: string, options?: RequestOptions): Promise<JsonObject>
  /** One GET whose answer is read as it arrives. Errors: as of a request; also while it is read, when it goes silent. */
  open(path: string, options?: RequestOptions): Promise<OpenAnswer>
}

interface RequestOptions extends Transport {
  readonly query?: Readonly<Record<string, string | number | undefined>>
  readonly body?: unknown
}

/** A client's key, and where it sends it (default: the client's own address). */
export interface Credentials {
  readonly key?: string
  /** Where the key came from, for messages: `ROUSE_KEY`. */
  readonly source?: string
  readonly url?: string
}

interface ClientOptions {
  url: string
  /** Called before the first request, and again where it failed. */
  credentials: () => Promise<Credentials>
  project?: string | undefined
  /** The trace that its requests are part of: `TRACEPARENT` of the environment. */
  traceparent?: string | undefined
  fetch?: Fetch
  signal?: AbortSignal
  clock?: Clock
  /** Called with each answer: how many messages wait for the agent of the key. */
  onWaitingMail?: (count: number) => void
}

export function createGatewayClient(options: ClientOptions): GatewayClient {
  const client = { ...options, credentials: once(options.credentials) }
  const request: GatewayClient['request'] = (method, path, options = {}) =>
    withTimeout(timeoutOf(client, options), async (signal) => {
      const response = await send(client, method, path, options, signal)
      return readJson(response, client, signal)
    })
  return {
    url: client.url,
    project: client.project,
    credentials: client.credentials,
    request,
    async call<Name extends RouteName>(route: Name, ...input: InputOf<Name>): Promise<AnswerOf<Name>> {
      const { params = {}, ...options } = (input[0] ?? {}) as RequestOptions & { params?: Record<string, string> }
      const [method = '', path = ''] = route.split(' ')
      return (await request(method, filled(path, params), options)) as AnswerOf<Name>
    },
    open: (path, options = {}) =>
      openUntilSilent((signal) => send(client, 'GET', path, { ...options, timeoutMs: 0 }, signal), {
        outer: options.signal ?? client.signal,
        clock: client.clock ?? systemClock,
        silent: () => new Unreachable(client.url, `nothing came for ${silenceMsMax / 1000} s`),
      }),
  }
}

/** The path of a route with its parameters. */
function filled(path: string, params: Readonly<Record<string, string>>): string {
  return path.replace(/:(\w+)/g, (_, name: string) => escaped(params[name] ?? ''))
}

/** The A2A address of an agent, in the project that the client acts in. */
export function agentPath({ project }: Pick<GatewayClient, 'project'>, handle: string): string {
  const within = project === undefined ? '' : `/projects/${escaped(project)}`
  return `${within}/agents/${escaped(handle)}`
}

/** A part of a path: ids hold colons, handles may hold anything. */
function escaped(part: string): string {
  // An unset shell variable must not address a collection instead of its resource, nor `..` into another one.
  if (/^\.{0,2}$/.test(part.trim())) throw new UsageError('A handle or an id is empty.')
  return encodeURIComponent(part)
}

/** A handle as paths carry it: `donna` for `@donna` and `donna`. */
export function bareHandle(handle: string): string {
  return handle.trim().replace(/^@/, '')
}

function timeoutOf(client: ClientOptions, { signal, timeoutMs = defaultTimeoutMs }: Transport) {
  const expired = () => new Unreachable(client.url, `no answer within ${timeoutMs / 1000} s`)
  return { signal: signal ?? client.signal, timeoutMs, expired }
}

async function send(
  client: ClientOptions,
  method: string,
  path: string,
  options: RequestOptions,
  signal: AbortSignal | undefined,
): Promise<FetchResponse> {
  const { key, source, url: base = client.url } = await client.credentials()
  const url = new URL(base + path)
  for (const [name, value] of Object.entries(options.query ?? {})) {
    if (value !== undefined) url.searchParams.set(name, String(value))
  }
  const { mail = 'count' } = options
  const headers: Record<string, string> = { accept: 'application/json', ...options.headers }
  if (mail !== 'all') headers[mailHeader] ??= mail
  if (client.project !== undefined) headers['rouse-project'] = client.project
  const traceparent = readTraceparent(client.traceparent)
  if (traceparent !== undefined) headers.traceparent ??= traceparent
  if (key) headers.authorization = `Bearer ${key}`
  if (options.body !== undefined) headers['content-type'] ??= 'application/json'
  let response: FetchResponse
  try {
    response = await (client.fetch ?? clientFetch)(url.href, {
      method,
      headers,
      body: options.body === undefined ? undefined : JSON.stringify(options.body),
      signal,
      // A redirect would send the key to an address that the caller did not name.
      redirect: 'error',
      patient: options.timeoutMs === 0,
    })
  } catch (error) {
    throw asFailure(error, client, signal)
  }
  if (response.ok) {
    const count = response.headers.get(mailHeader)
    if (count !== null) client.onWaitingMail?.(Number(count))
    return response
  }
  const keySource = key === undefined ? undefined : (source ?? 'the command line')
  throw await refusalOf(response, { keySource, askWhose: () => whoseKey(client, base, key) })
}

/** Whose key it is, for a message about a refusal; undefined when the gateway does not say. */
async function whoseKey(client: ClientOptions, base: string, key: string | undefined): Promise<string | undefined> {
  try {
    const response = await (client.fetch ?? clientFetch)(`${base}/v1/whoami`, {
      method: 'GET',
      headers: { accept: 'application/json', authorization: `Bearer ${key}` },
      signal: AbortSignal.timeout(whoseTimeoutMs),
      redirect: 'error',
    })
    const { identity } = response.ok ? (JSON.parse(await response.text()) as JsonObject) : {}
    return typeof identity === 'string' ? identity : undefined
  } catch {
    return undefined
  }
}

function asFailure(error: unknown, client: ClientOptions, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted) return signal.reason ?? error
  const cause = (error as { cause?: { code?: string; message?: string } }).cause
  return new Unreachable(client.url, cause?.code ?? cause?.message ?? String((error as Error).message ?? error))
}

async function readJson(response: FetchResponse, client: ClientOptions, signal: AbortSignal): Promise<JsonObject> {
  let text: string
  try {
    text = await response.text()
  } catch (error) {
    throw asFailure(error, client, signal)
  }
  if (text === '') return {}
  try {
    return JSON.parse(text)
  } catch {
    throw new Refused({
      title: 'The answer is not JSON',
      detail: `${client.url} answered ${response.status}, but not as a Rouse gateway. Is a gateway listening there?`,
      status: response.status,
    })
  }
}
