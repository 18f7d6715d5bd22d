import type { IncomingMessage, RequestListener } from 'node:http'
import { Problem } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import { isVouchedFor } from '../../security/client-certificates.ts'
import { isLoopbackHost } from '../../security/url-guard.ts'
import { sendProblem } from './problem.ts'

/** Header lines of a request. */
const headerLinesMax = 100

interface Edge {
  readonly clock: Clock
  /** The names that a request may have in `Host`; undefined: any. */
  readonly names: ReadonlySet<string> | undefined
  /** True when clients reach it over TLS, here or at a proxy. */
  readonly isSecure: boolean
  /** True when clients must present a certificate. Health checks need none. */
  readonly asksClients: boolean
  /** Called with each request that is refused here. */
  readonly noteRefused: (req: IncomingMessage, problem: Problem) => void
}

/** The first check of every HTTP request: it must name this gateway. Its answer gets headers that keep browsers from interpreting it. */
export function guardEdge(edge: Edge, listener: RequestListener): RequestListener {
  const headers = Object.entries({ ...safeHeaders, ...(edge.isSecure ? secureHeaders : {}) })
  return (req, res) => {
    for (let at = 0; at < headers.length; at++) res.setHeader(headers[at]![0], headers[at]![1])
    const problem = findFault(edge, req)
    if (!problem) return void listener(req, res)
    edge.noteRefused(req, problem)
    sendProblem(res, problem, pathOf(req))
  }
}

function findFault(edge: Edge, req: IncomingMessage): Problem | undefined {
  return (
    requireFewHeaders(req) ?? requireOneHost(req) ?? requireOwnName(req, edge.names) ?? requireCertificate(req, edge)
  )
}

/** The answers are not pages, frames, scripts or images; a route that serves one sets its own headers. */
const safeHeaders = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
}

const secureHeaders = { 'Strict-Transport-Security': 'max-age=31536000' }

/**
 * Returns the names of a gateway that listens on loopback. A web page can make its own host name resolve to loopback (DNS
 * rebinding); its requests then have that name in `Host`. Undefined if the gateway does not listen on loopback: then a page can
 * do no more than any other client.
 */
export function ownNames(host: string, publicUrl: string | undefined): Set<string> | undefined {
  if (!isLoopbackHost(host)) return undefined
  const names = new Set([host.toLowerCase()])
  if (publicUrl !== undefined) names.add(new URL(publicUrl).hostname.replace(/^\[|\]$/g, ''))
  return names
}

function requireOwnName(req: IncomingMessage, names: Edge['names']): Problem | undefined {
  const { host } = req.headers
  if (names === undefined || host === undefined) return undefined
  const name = hostnameOf(host)
  if (names.has(name) || isLoopbackHost(name)) return undefined
  return new Problem('misdirected-request', {
    field: 'Host',
    detail: `Host: this gateway listens on loopback and is not called "${name.slice(0, 100)}". Use its own address, or set ROUSE_PUBLIC_URL to the address that clients use.`,
  })
}

/** Returns the host of `name`, `name:port` or `[address]:port`. */
function hostnameOf(host: string): string {
  return host
    .replace(/:\d*$/, '')
    .replace(/^\[|\]$/g, '')
    .toLowerCase()
}

function requireFewHeaders({ rawHeaders }: IncomingMessage): Problem | undefined {
  if (rawHeaders.length <= 2 * headerLinesMax) return undefined
  return new Problem('headers-too-large', {
    detail: `The request has more than ${headerLinesMax} header lines. Send fewer.`,
  })
}

function requireCertificate(req: IncomingMessage, { asksClients, clock }: Edge): Problem | undefined {
  if (!asksClients || isVouchedFor(req.socket, clock) || healthPaths.has(pathOf(req))) return undefined
  return new Problem('forbidden', {
    detail:
      'This gateway accepts only clients with a certificate. Present one that a CA of ROUSE_TLS_CLIENT_CA has signed and that has not expired.',
  })
}

/** Paths that need no certificate: the health check of a container has none, and the answers reveal nothing. */
const healthPaths = new Set(['/healthz', '/readyz'])

function pathOf({ url = '/' }: IncomingMessage): string {
  return url.split('?')[0] ?? '/'
}

/** Returns why a request has no one host: two `Host` lines may be read differently by a proxy and by the gateway. Source: RFC 9112 §3.2. */
function requireOneHost({ rawHeaders }: IncomingMessage): Problem | undefined {
  let count = 0
  for (let at = 0; at < rawHeaders.length; at += 2) if (rawHeaders[at]!.toLowerCase() === 'host') count++
  if (count <= 1) return undefined
  return new Problem('invalid-request', { field: 'Host', detail: `Host: a request has one such line, not ${count}.` })
}
