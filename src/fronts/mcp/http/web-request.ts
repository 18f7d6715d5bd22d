import type { Request as ExpressRequest } from 'express'

/** Headers that a server of the SDK has no use for: the caller is known already. */
const kept = [
  'accept',
  'content-type',
  'mcp-protocol-version',
  'mcp-method',
  'mcp-name',
  'user-agent',
  'traceparent',
  'tracestate',
  'baggage',
]

/**
 * Returns a request as the SDK takes it, without its body, which is parsed already. The credentials stay here.
 * @param signal ends the exchange
 */
export function webRequest(req: ExpressRequest, signal: AbortSignal): Request {
  const headers = new Headers()
  for (const [name, value] of Object.entries(req.headers)) {
    const isKept = kept.includes(name) || name.startsWith('mcp-param-')
    if (isKept && typeof value === 'string') headers.set(name, value)
  }
  return new Request('http://gateway/mcp', { method: req.method, headers, signal })
}
