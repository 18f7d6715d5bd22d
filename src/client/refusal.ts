import { isJsonObject, type JsonObject } from '../lib/json.ts'
import type { FetchResponse } from './client-fetch.ts'
import { type KeyUse, Refused } from './failure.ts'
import { problemOfRpc } from './rpc-problem.ts'

/** The known facts of the call that was refused. */
interface RefusedWith {
  /** Where its key came from; undefined: it had none. */
  readonly keySource: string | undefined
  /** Asks the gateway whose key it is; undefined when it does not say. */
  readonly askWhose: () => Promise<string | undefined>
}

const noKey =
  'No key was sent: log in with `rouse login`, set ROUSE_KEY_FILE or ROUSE_KEY, or run this where .rouse/admin.key is.'

/** The refusal in an answer that is no success: a problem document, a JSON-RPC error, or whatever else answered. */
export async function refusalOf(response: FetchResponse, { keySource, askWhose }: RefusedWith): Promise<Refused> {
  const problem = await readProblem(response)
  if (response.status === 401 && keySource === undefined) return new Refused({ ...problem, hint: noKey })
  return new Refused(problem, await keyUseOf(response.status, keySource, askWhose))
}

/** The key, if the refusal is about the key. An unknown key has no owner. */
async function keyUseOf(
  status: number,
  source: string | undefined,
  askWhose: RefusedWith['askWhose'],
): Promise<KeyUse | undefined> {
  if (source === undefined || ![401, 403].includes(status)) return undefined
  return status === 401 ? { source } : { source, identity: await askWhose() }
}

async function readProblem(response: FetchResponse): Promise<JsonObject> {
  const { status, statusText } = response
  const body = parseObject(await response.text().catch(() => ''))
  if (body === undefined) return { title: `The gateway answered ${status} ${statusText}`.trim(), status }
  return isJsonObject(body.error) ? problemOfRpc(body.error, status) : body
}

function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
