import type { IncomingMessage, RequestListener } from 'node:http'
import { Problem } from '../errors.ts'
import { isVouchedFor } from '../security/tls-files.ts'
import { isLoopbackHost } from '../security/url-guard.ts'
import type { ConnectionBounds } from './connection-bounds.ts'
import { sendProblem } from './problem.ts'

export interface Edge {
  readonly bounds: ConnectionBounds
  /** The names that this gateway is asked under; undefined: any. */
  readonly names: ReadonlySet<string> | undefined
  /** Whether clients reach it over TLS, here or at a proxy. */
  readonly isSecure: boolean
  /** Whether clients must show a certificate, health checks aside. */
  readonly asksClients: boolean
}

/** What every HTTP request passes first: it must name this gateway, and its answer tells browsers to make nothing of it. */
export function guardEdge(edge: Edge, listener: RequestListener): RequestListener {
  const headers = Object.entries({ ...safeHeaders, ...(edge.isSecure ? secureHeaders : {}) })
  return (req, res) => {
    for (const [name, value] of headers) res.setHeader(name, value)
    const problem = findFault(edge, req)
    if (problem) sendProblem(res, problem, pathOf(req))
    else listener(req, res)
  }
}

function findFault({ bounds, names, asksClients }: Edge, req: IncomingMessage): Problem | undefined {
  return (
    requireFewHeaders(req, bounds.headerLines) ?? requireOwnName(req, names) ?? requireCertificate(req, asksClients)
  )
}

/** Nothing here is a page, a frame, a script or an image; where something is, its route says so. */
const safeHeaders = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
}

const secureHeaders = { 'Strict-Transport-Security': 'max-age=31536000' }

/**
 * The names of a gateway that listens on loopback: a page in a browser on this machine can have any name of its own point here
 * (DNS rebinding), and its requests come under that name. Undefined beyond loopback, where a page can do no more than anybody.
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

/** Of `name`, `name:port` or `[address]:port`. */
function hostnameOf(host: string): string {
  return host
    .replace(/:\d*$/, '')
    .replace(/^\[|\]$/g, '')
    .toLowerCase()
}

function requireFewHeaders({ rawHeaders }: IncomingMessage, max: number): Problem | undefined {
  if (rawHeaders.length <= 2 * max) return undefined
  return new Problem('headers-too-large', {
    detail: `The request has more than ${max} header lines. Send fewer.`,
    extra: { limit: 'headerLines', max },
  })
}

function requireCertificate(req: IncomingMessage, asksClients: boolean): Problem | undefined {
  if (!asksClients || isVouchedFor(req.socket) || healthPaths.has(pathOf(req))) return undefined
  return new Problem('forbidden', {
    detail:
      'This gateway accepts only clients with a certificate. Present one that a CA of ROUSE_TLS_CLIENT_CA has signed.',
  })
}

/** A container's health check has no certificate, and these tell nothing. */
const healthPaths = new Set(['/healthz', '/readyz'])

function pathOf({ url = '/' }: IncomingMessage): string {
  return url.split('?')[0] ?? '/'
}
