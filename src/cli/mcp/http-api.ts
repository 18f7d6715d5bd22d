import type { Fetch, FetchResponse } from '../../client/client-fetch.ts'
import { Unreachable } from '../../client/failure.ts'
import type { Credentials } from '../../client/gateway-client.ts'
import { withTimeout } from '../../client/with-timeout.ts'
import { type ApiAnswer, type ApiRequest, GatewayUnreachable } from '../../fronts/mcp/call-api.ts'
import { isJsonObject, type JsonObject } from '../../lib/json.ts'

/** Longer than any call that blocks. */
const callMaxMs = 120_000

interface HttpApiOptions {
  readonly url: string
  readonly project: string | undefined
  /** Read again after a failure, and after an answer that the key is not valid: the user may have put it right. */
  readonly credentials: () => Promise<Credentials>
  readonly fetch: Fetch
}

/** Calls the gateway's API with a key. A refusal is an answer. Errors: `GatewayUnreachable`; the reason of the signal. */
export type HttpApi = (request: ApiRequest, signal?: AbortSignal) => Promise<ApiAnswer>

export function createHttpApi(options: HttpApiOptions): HttpApi {
  let known: Promise<Credentials> | undefined
  const credentials = (): Promise<Credentials> => {
    known ??= options.credentials().catch((error: unknown) => {
      known = undefined
      throw error instanceof Unreachable ? unreachable(options.url, 'ECONNREFUSED', error) : error
    })
    return known
  }
  const expired = () => unreachable(options.url, `no answer within ${callMaxMs / 1000} s`)
  return (request, outer) =>
    withTimeout({ signal: outer, timeoutMs: callMaxMs, expired }, async (signal) => {
      const used = await credentials()
      const answer = await send(options, used, request, signal)
      if (answer.status !== 401) return answer
      known = undefined
      // Nothing was done. Another key is tried at once: the model is not instructed to ask for what its user has given.
      const now = await credentials()
      return now.key === used.key ? answer : send(options, now, request, signal)
    })
}

async function send(
  { url: own, project, fetch }: HttpApiOptions,
  { key, url: base = own }: Credentials,
  request: ApiRequest,
  signal: AbortSignal,
): Promise<ApiAnswer> {
  const { method, path, query = {}, body } = request
  const headers: Record<string, string> = { accept: 'application/json', ...request.headers }
  if (project !== undefined) headers['rouse-project'] = project
  if (key !== undefined) headers.authorization = `Bearer ${key}`
  if (body !== undefined) headers['content-type'] = 'application/json'
  const search = new URLSearchParams(query).toString()
  const init = { method, headers, signal, redirect: 'error', ...(body ? { body: JSON.stringify(body) } : {}) } as const
  const address = `${base}${path}${search === '' ? '' : `?${search}`}`
  try {
    // A gateway that was restarted has closed the connection that is open here: what only reads is requested once more.
    const response = await fetch(address, init).catch((error: unknown) => {
      if (method !== 'GET' || signal.aborted) throw error
      return fetch(address, init)
    })
    return await answerOf(response, own)
  } catch (error) {
    if (signal.aborted) throw signal.reason
    if (error instanceof GatewayUnreachable) throw error
    const { code, message } = (error as { cause?: { code?: string; message?: string } }).cause ?? {}
    throw unreachable(own, code ?? message ?? (error as Error).message, error)
  }
}

async function answerOf(response: FetchResponse, url: string): Promise<ApiAnswer> {
  const text = await response.text()
  const retryAfter = response.headers.get('retry-after')
  const headers: Record<string, string> = retryAfter === null ? {} : { 'retry-after': retryAfter }
  return { status: response.status, headers, body: text === '' ? {} : parsed(text, url, response.status) }
}

function parsed(text: string, url: string, status: number): JsonObject {
  try {
    const value: unknown = JSON.parse(text)
    if (isJsonObject(value)) return value
  } catch {
    // Not JSON: see below.
  }
  throw unreachable(url, `what answers there (${status}) is no Rouse gateway`)
}

function unreachable(url: string, reason: string, cause?: unknown): GatewayUnreachable {
  return new GatewayUnreachable(url, `${reason}. Start it with: rouse serve, or name another one with ROUSE_URL`, cause)
}
