import { type ProblemCode, problems } from '../errors.ts'
import { isJsonObject, type JsonObject } from '../lib/json.ts'

/**
 * A JSON-RPC error as a problem. The `ErrorInfo` in its data has the gateway's own code and members; errors of the A2A
 * specification have a reason only.
 */
export function problemOfRpc(error: JsonObject, status?: number): JsonObject {
  const details = Array.isArray(error.data) ? error.data.filter(isJsonObject) : []
  const info = details.find((detail) => typeof detail.reason === 'string') ?? {}
  const { code, ...members } = isJsonObject(info.metadata) ? info.metadata : {}
  const reason = typeof info.reason === 'string' ? info.reason : undefined
  const own = [code, reason?.toLowerCase().replaceAll('_', '-')].find(isProblemCode)
  const said = error.message ?? 'The agent refused the message'
  return {
    ...members,
    ...(own === undefined
      ? { title: said, code: reason ?? error.code }
      : { title: problems[own].title, code: own, detail: said }),
    ...(status === undefined ? {} : { status }),
    error,
  }
}

function isProblemCode(code: unknown): code is ProblemCode {
  return typeof code === 'string' && Object.hasOwn(problems, code)
}
