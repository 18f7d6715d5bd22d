import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import type { JsonObject } from '../../../lib/json.ts'
import { callbackFaults, type McpEventCodes, type McpEventError, mcpEventErrors } from '../../../words/mcp-events.ts'
import { Refused } from '../refused.ts'
import { shownLine } from '../unknown-name.ts'

const reasonMax = 500

/** Returns an error of MCP Events. Its message is its bare name, as clients know it. */
export function eventError(codes: McpEventCodes, name: McpEventError, data: JsonObject): ProtocolError {
  return new ProtocolError(mcpEventErrors[name][codes], name, data)
}

export function invalidParams(field: string, reason: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, 'InvalidParams', {
    field,
    reason: shownLine(reason, reasonMax),
  })
}

/** Returns a refusal of the API as clients of MCP Events read it. What is no refusal is thrown as it is. Source: SEP-3415, errors. */
export function toEventError(codes: McpEventCodes, error: unknown): unknown {
  if (!(error instanceof Refused)) return error
  const { code, field, detail, reason, limit, limitName, retryAfterSeconds, ...rest } = error.problem
  // Where a problem has the name apart, its `limit` is the number.
  const max = limitName === undefined ? rest.max : limit
  const said = shownLine(String(detail ?? error.message), reasonMax)
  switch (code) {
    case 'event-type-not-found':
      return eventError(codes, 'NotFound', { kind: 'event' })
    case 'callback-not-verified':
      return eventError(codes, 'CallbackEndpointError', {
        reason: callbackFaults.find((one) => one === reason) ?? 'challenge_failed',
      })
    case 'forbidden':
    case 'agent-not-found':
      return eventError(codes, 'Forbidden', { reason: said })
    case 'limit-exceeded':
    case 'rate-limited':
      return eventError(codes, 'ResourceExhausted', {
        limit: limitName ?? limit ?? 'rate',
        ...(max === undefined ? {} : { max }),
        ...(typeof retryAfterSeconds === 'number' ? { retryAfterMs: retryAfterSeconds * 1000 } : {}),
      })
    case 'invalid-request':
    case 'url-not-allowed':
      return invalidParams(pathOf(String(field ?? 'params')), said)
    default:
      return new ProtocolError(ProtocolErrorCode.InternalError, said)
  }
}

/** The fields of a subscription are in `delivery` on the wire. */
function pathOf(field: string): string {
  return field === 'url' || field === 'secret' ? `delivery.${field}` : field
}
