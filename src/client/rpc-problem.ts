import { type ProblemCode, problems } from '../errors.ts'
import { isJsonObject, type JsonObject } from '../lib/json.ts'

/**
 * A JSON-RPC error as a problem. The `ErrorInfo` in its data has the gateway's own code and the field; errors of the A2A
 * specification have a reason only.
 */
export function problemOfRpc(error: JsonObject, status?: number): JsonObject {
  const details = Array.isArray(error.data) ? error.data.filter(isJsonObject) : []
  const info = details.find((detail) => typeof detail.reason === 'string') ?? {}
  const metadata = isJsonObject(info.metadata) ? info.metadata : {}
  const reason = typeof info.reason === 'string' ? info.reason : undefined
  const own = [metadata.code, reason?.toLowerCase().replaceAll('_', '-')].find(isProblemCode)
  const said = error.message ?? 'The agent refused the message'
  return {
    ...(own === undefined
      ? { title: said, code: reason ?? error.code }
      : { title: problems[own].title, code: own, detail: said }),
    ...(status === undefined ? {} : { status }),
    ...(metadata.field === undefined ? {} : { field: metadata.field }),
    error,
  }
}

function isProblemCode(code: unknown): code is ProblemCode {
  return typeof code === 'string' && Object.hasOwn(problems, code)
}
