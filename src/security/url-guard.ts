import { isIP } from 'node:net'
import { sizeLimits } from '../limits.ts'
import type { AddressPolicy } from './address-policy.ts'

export type UrlVerdict =
  | { ok: true; url: URL }
  | { ok: false; code: 'invalid-request' | 'url-not-allowed'; detail: string }

/**
 * Checks a URL without DNS. The URL parser has already converted decimal, hexadecimal, octal, short and full-width spellings of an IPv4
 * address into the dotted one, so literals have one form.
 */
export function judgeUrl(text: string, policy: AddressPolicy): UrlVerdict {
  if (text.length > sizeLimits.url.max) {
    return { ok: false, code: 'invalid-request', detail: `The URL is longer than ${sizeLimits.url.max} characters.` }
  }
  const url = parseUrl(text)
  if (!url) return { ok: false, code: 'invalid-request', detail: 'The URL is not a valid absolute URL.' }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return notAllowed('The URL must use http or https.')
  if (url.username !== '' || url.password !== '') {
    return notAllowed('The URL must not contain a user name or password. Remove the part before the @.')
  }
  const host = url.hostname.replace(/^\[|\]$/g, '')
  if (withoutFinalDots(host).length > hostBytesMax) {
    return notAllowed(`The host of the URL is longer than ${hostBytesMax} bytes.`)
  }
  return judgeHost(host, policy) ?? { ok: true, url }
}

/** `localhost` and every name under it mean this machine (RFC 6761 section 6.3), with or without the final dot. */
export function isLocalhost(host: string): boolean {
  const name = withoutFinalDots(host).toLowerCase()
  return name === 'localhost' || name.endsWith('.localhost')
}

/** True when a host (a name, an address, or an address in a URL's brackets) is the loopback of this machine. */
export function isLoopbackHost(host: string): boolean {
  return isLocalhost(host) || /^(\[?::1\]?|127(\.\d{1,3}){3})$/.test(host)
}

/** True when a host stands for every address of a machine: `0.0.0.0`, `::` and their other spellings. Clients cannot use it. */
export function isWildcardHost(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '')
  const { hostname } = parseUrl(`http://${bare.includes(':') ? `[${bare}]` : bare}`) ?? {}
  return hostname !== undefined && ['0.0.0.0', '[::]', '[::ffff:0:0]'].includes(hostname)
}

function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text)
  } catch {
    return undefined
  }
}

/** RFC 1035 section 2.3.4, in text form without the final dot. */
const hostBytesMax = 253

function judgeHost(host: string, policy: AddressPolicy): UrlVerdict | undefined {
  const family = isIP(host)
  if (family === 0) {
    if (!isLocalhost(host) || loopbacks.some((address) => policy.check(address).allowed)) return undefined
    return notAllowed(`${host} is the gateway itself. To allow it, set ROUSE_WEBHOOK_ALLOW to 127.0.0.0/8,::1/128.`)
  }
  const verdict = policy.check(host)
  if (verdict.allowed) return undefined
  return notAllowed(
    `${host} may not be reached from this gateway (${verdict.reason}). To allow it, ` +
      `set ROUSE_WEBHOOK_ALLOW to a CIDR that contains the address, e.g. ${host}/${family === 4 ? 32 : 128}.`,
  )
}

const loopbacks = ['127.0.0.1', '::1']

function withoutFinalDots(host: string): string {
  let end = host.length
  while (host[end - 1] === '.') end--
  return host.slice(0, end)
}

function notAllowed(detail: string): UrlVerdict {
  return { ok: false, code: 'url-not-allowed', detail }
}
