import type { IncomingMessage } from 'node:http'
import { Problem } from '../../errors.ts'

/** Returns why a request has no one host: two `Host` lines may be read differently by a proxy and by the gateway. Source: RFC 9112 §3.2. */
export function requireOneHost({ rawHeaders }: IncomingMessage): Problem | undefined {
  let count = 0
  for (let at = 0; at < rawHeaders.length; at += 2) if (rawHeaders[at]!.toLowerCase() === 'host') count++
  if (count <= 1) return undefined
  return new Problem('invalid-request', { field: 'Host', detail: `Host: a request has one such line, not ${count}.` })
}
