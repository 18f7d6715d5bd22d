import { isJsonObject, type JsonObject } from '../lib/json.ts'
import { clientFetch, type Fetch, type FetchResponse } from './client-fetch.ts'
import { Refused, Unreachable, UsageError } from './failure.ts'

/** Long enough for a large replay, short enough that nobody waits for a gateway that hangs. */
const defaultTimeoutMs = 60_000

export interface GatewayClient {
  readonly url: string
  /** The project that it acts in, where one was named. */
  readonly project: string | undefined
  /** One request, its JSON answer. Throws `Refused` or `Unreachable`. */
  call<T = JsonObject>(method: string, path: string, options?: CallOptions): Promise<T>
  /** One request whose answer is read as it arrives. */
  open(path: string, options?: CallOptions): Promise<FetchResponse>
}

export interface CallOptions {
  query?: Readonly<Record<string, string | number | undefined>>
  body?: unknown
  headers?: Record<string, string>
  /** 0 waits for ever. */
  timeoutMs?: number
  /** Instead of the client's own signal. */
  signal?: AbortSignal
}

/** What a client proves itself with, and where it sends that: absent, to the client's own address. */
export interface Credentials {
  readonly key?: string
  readonly url?: string
}

interface ClientOptions {
  url: string
  /** Asked once, before the first request. */
  credentials: () => Promise<Credentials>
  project?: string | undefined
  fetch?: Fetch
  signal?: AbortSignal
}

export function createGatewayClient(options: ClientOptions): GatewayClient {
  let asked: Promise<Credentials> | undefined
  const client = { ...options, credentials: () => (asked ??= options.credentials()) }
  return {
    url: client.url,
    project: client.project,
    async call<T>(method: string, path: string, options: CallOptions = {}): Promise<T> {
      return await withTimeout(client, options, async (signal) => {
        const response = await request(client, method, path, options, signal)
        return (await readJson(response, client, signal)) as T
      })
    },
    open: (path, options = {}) => request(client, 'GET', path, options, options.signal ?? client.signal),
  }
}

/** The A2A address of an agent, in the project that the client acts in. */
export function agentPath({ project }: GatewayClient, handle: string): string {
  return project === undefined ? pathOf('/agents', handle) : pathOf('/projects', project, 'agents', handle)
}

/** The path of a resource under `base`, each part escaped: ids hold colons, handles may hold anything. */
export function pathOf(base: string, ...parts: readonly string[]): string {
  // An unset shell variable must not turn one resource into its collection, nor `..` into another one.
  if (parts.some((part) => /^\.{0,2}$/.test(part.trim()))) throw new UsageError('A handle or an id is empty.')
  return [base, ...parts.map(encodeURIComponent)].join('/')
}

/** `@donna` and `donna` name one agent; paths carry it without the sign. */
export function bareHandle(handle: string): string {
  return handle.trim().replace(/^@/, '')
}

async function withTimeout<T>(
  client: ClientOptions,
  options: CallOptions,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const outer = options.signal ?? client.signal
  const timeoutMs = options.timeoutMs ?? defaultTimeoutMs
  const controller = new AbortController()
  const relay = () => controller.abort(outer?.reason)
  if (outer?.aborted) relay()
  outer?.addEventListener('abort', relay, { once: true })
  const expire = () => controller.abort(new Unreachable(client.url, `no answer within ${timeoutMs / 1000} s`))
  const timer = timeoutMs > 0 ? setTimeout(expire, timeoutMs) : undefined
  try {
    return await work(controller.signal)
  } finally {
    clearTimeout(timer)
    outer?.removeEventListener('abort', relay)
  }
}

async function request(
  client: ClientOptions,
  method: string,
  path: string,
  options: CallOptions,
  signal: AbortSignal | undefined,
): Promise<FetchResponse> {
  const { key, url: base = client.url } = await client.credentials()
  const url = new URL(base + path)
  for (const [name, value] of Object.entries(options.query ?? {})) {
    if (value !== undefined) url.searchParams.set(name, String(value))
  }
  const headers: Record<string, string> = { accept: 'application/json', ...options.headers }
  if (client.project !== undefined) headers['rouse-project'] = client.project
  if (key) headers.authorization = `Bearer ${key}`
  if (options.body !== undefined) headers['content-type'] ??= 'application/json'
  let response: FetchResponse
  try {
    response = await (client.fetch ?? clientFetch)(url.href, {
      method,
      headers,
      body: options.body === undefined ? undefined : JSON.stringify(options.body),
      signal,
      // A redirect would carry the key to an address that nobody named.
      redirect: 'error',
    })
  } catch (error) {
    throw asFailure(error, client, signal)
  }
  if (!response.ok) throw new Refused(await readProblem(response, key !== undefined))
  return response
}

function asFailure(error: unknown, client: ClientOptions, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted) return signal.reason ?? error
  const cause = (error as { cause?: { code?: string; message?: string } }).cause
  return new Unreachable(client.url, cause?.code ?? cause?.message ?? String((error as Error).message ?? error))
}

async function readJson(response: FetchResponse, client: ClientOptions, signal: AbortSignal): Promise<unknown> {
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
      detail: `${client.url} answered ${response.status} with something else. Is a Rouse gateway listening there?`,
      status: response.status,
    })
  }
}

async function readProblem(response: FetchResponse, hasKey: boolean): Promise<JsonObject> {
  const text = await response.text().catch(() => '')
  const problem = parseObject(text) ?? {
    title: `The gateway answered ${response.status} ${response.statusText}`.trim(),
    status: response.status,
  }
  if (response.status !== 401 || hasKey) return problem
  return {
    ...problem,
    hint: 'No key was sent: set ROUSE_KEY or ROUSE_KEY_FILE, or run this where .rouse/admin.key is.',
  }
}

function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
