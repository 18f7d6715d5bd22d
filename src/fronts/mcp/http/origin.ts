import type { RequestHandler } from 'express'
import { Problem } from '../../../errors.ts'
import { isLoopbackHost } from '../../../security/url-guard.ts'

/**
 * Refuses requests of web pages, but those of this machine and of the gateway's own address: the answer would be for the page, whose
 * owner the user does not know. The name in `Host` is checked before, for every request. Source: MCP 2025-11-25, Transports,
 * Security Warning.
 */
export function refusePages(ownNames: () => ReadonlySet<string>): RequestHandler {
  return (req, _res, next) => {
    const origin = req.get('origin')
    if (origin === undefined || isOwn(origin, ownNames())) return next()
    throw new Problem('forbidden', {
      field: 'Origin',
      detail: 'Origin: web pages of other sites may not use this endpoint. Use a client that sends no Origin.',
    })
  }
}

function isOwn(origin: string, ownNames: ReadonlySet<string>): boolean {
  if (!URL.canParse(origin)) return false
  const { protocol, hostname } = new URL(origin)
  if (protocol !== 'http:' && protocol !== 'https:') return false
  const name = hostname.replace(/^\[|\]$/g, '')
  return ownNames.has(name) || isLoopbackHost(name)
}
