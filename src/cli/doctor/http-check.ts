import { clientFetch, type Fetch, type FetchResponse } from '../../client/client-fetch.ts'
import type { Io } from '../../client/io.ts'
import { detailFor } from '../../errors.ts'
import { broken, type Check, ok, unknown } from '../../harnesses/check.ts'
import { keyVariable } from '../../harnesses/entries.ts'
import { isJsonObject, type JsonObject } from '../../lib/json.ts'

const name = 'MCP over HTTP'
const protocolVersion = '2025-11-25'
const answerMaxMs = 5_000
/** The key comes from a file, so that no list of processes shows it. */
const giveKey = `read -r ${keyVariable} < <file of the key> && export ${keyVariable}`

/** The address that a harness calls itself, as `rouse install` has written it; undefined: it starts a program. Pure. */
export function addressIn(entry: unknown): string | undefined {
  if (!isJsonObject(entry)) return undefined
  return [entry.url, entry.httpUrl].find((one) => typeof one === 'string' && URL.canParse(one)) as string | undefined
}

/** Greets the gateway at the address with the key of this environment, and ends that MCP session. It begins no Rouse session. */
export async function checkHttp(io: Io, url: string): Promise<Check> {
  const key = io.env[keyVariable]?.trim()
  if (!key)
    return unknown(
      name,
      `not tried: the harness reads ${keyVariable} of its environment, and here it is not set`,
      giveKey,
    )
  const headers = {
    authorization: `Bearer ${key}`,
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
  }
  const params = { protocolVersion, capabilities: {}, clientInfo: { name: 'rouse-doctor', version: '1' } }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })
  const call: Fetch = (address, init) =>
    (io.fetch ?? clientFetch)(address, { ...init, redirect: 'error', signal: AbortSignal.timeout(answerMaxMs) })
  try {
    const answer = await call(url, { method: 'POST', headers, body })
    const message = messageIn(await answer.text())
    const session = answer.headers.get('mcp-session-id')
    if (session !== null) await endSession(call, url, { ...headers, 'mcp-session-id': session })
    return judged(url, answer, message)
  } catch (error) {
    const { code, message } = ((error as Error).cause ?? error) as NodeJS.ErrnoException
    return broken(name, `${url}: no answer: ${code ?? message}`, 'rouse serve')
  }
}

function judged(url: string, { status }: FetchResponse, message: JsonObject): Check {
  const { result, error } = message
  if (isJsonObject(result))
    return ok(name, `${url} answers (MCP ${String(result.protocolVersion)}), with ${keyVariable} of here`)
  const problem = isJsonObject(error) ? { detail: error.message, ...(isJsonObject(error.data) && error.data) } : message
  const reason = detailFor(problem, ({ cli }) => cli)
  const what = `${url} refuses ${keyVariable} of here: ${status} ${reason.slice(0, 300)}`.trimEnd()
  if (status === 401 || status === 403) return broken(name, what, giveKey)
  return broken(name, `${url}: ${status}: no MCP server of Rouse`, `rouse health ${new URL(url).origin}`)
}

/** It ends by itself after a day without use. */
async function endSession(call: Fetch, url: string, headers: Record<string, string>): Promise<void> {
  await call(url, { method: 'DELETE', headers: { ...headers, 'mcp-protocol-version': protocolVersion } })
    .then((answer) => answer.text())
    .catch(() => undefined)
}

/** The answer as JSON, or as the one event of a stream. */
function messageIn(text: string): JsonObject {
  const data = /^data: ?(.*)$/m.exec(text)?.[1]
  try {
    const value: unknown = JSON.parse(data ?? text)
    return isJsonObject(value) ? value : {}
  } catch {
    return {}
  }
}
