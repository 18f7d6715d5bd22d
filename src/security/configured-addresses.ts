import { Resolver } from 'node:dns'
import { isLoopbackHost, isWildcardHost } from './url-guard.ts'

const loopback = ['127.0.0.0/8', '::1/128']

/**
 * Returns the CIDRs that webhooks may reach where the configuration names none: loopback if only this machine can reach the gateway. A
 * gateway behind a proxy listens on loopback too, but its agents are on other machines.
 */
export function allowedByDefault(host: string, publicUrl: string | undefined): readonly string[] {
  const isLocal = publicUrl === undefined || (URL.canParse(publicUrl) && isLoopbackHost(new URL(publicUrl).hostname))
  return isLoopbackHost(host) && isLocal ? loopback : []
}

/** `none` is an empty list: it closes loopback too while the gateway listens there. */
export function cidrs(text: string): string[] {
  return text.toLowerCase() === 'none' ? [] : listOf(text)
}

/** Returns the parts of a text that spaces or commas separate. */
export function listOf(text: string): string[] {
  return text.split(/[\s,]+/).filter(Boolean)
}

/** Throws what to give instead of a URL that no client can use. */
export function requireHttp(text: string): void {
  const { protocol, hostname } = new URL(text)
  if (protocol !== 'http:' && protocol !== 'https:') throw new Error('give an http or https URL.')
  if (isWildcardHost(hostname)) throw new Error(`no client can use ${hostname}: give the address that clients use.`)
}

/** Throws what to give instead of a list that no resolver takes. */
export function requireNameServers(servers: readonly string[]): void {
  try {
    if (servers.length === 0) throw new Error('The list is empty.')
    new Resolver().setServers(servers)
  } catch (cause) {
    throw new Error('give addresses such as 10.0.0.2 or 10.0.0.2:5353, separated by commas.', { cause })
  }
}

/** The URL may contain a password, so the error does not repeat it. */
export function requirePostgres(text: string): void {
  const protocol = URL.canParse(text) ? new URL(text).protocol : ''
  if (!['postgres:', 'postgresql:'].includes(protocol))
    throw new Error(
      'give a URL such as postgres://rouse@127.0.0.1:5432/rouse (special characters as %2F for /), or none for the embedded store.',
    )
}

/** The URL may contain a password, so the error does not repeat it. */
export function requireProxy(text: string): void {
  try {
    const { protocol, hostname, pathname, search, username, password } = new URL(text)
    decodeURIComponent(username + password)
    if (/^https?:$/.test(protocol) && hostname !== '' && pathname + search === '/') return
  } catch {}
  throw new Error('give the URL of an HTTP proxy, such as http://proxy.example:3128 or http://user:pass@proxy.example.')
}

/** The URL may contain a password, so the error does not repeat it. */
export function requireRedis(text: string): void {
  const protocol = URL.canParse(text) ? new URL(text).protocol : ''
  if (!['redis:', 'rediss:'].includes(protocol)) throw new Error('give a URL such as redis://127.0.0.1:6379.')
}

/** Throws what to give instead of a `host:port` that no client can use. */
export function requireTarget(text: string): void {
  if (!/^(\[[^\]\s]+\]|[^\s:/]+):\d{1,5}$/.test(text)) throw new Error('give host:port, e.g. rouse.example:443.')
  if (isWildcardHost(text.slice(0, text.lastIndexOf(':')))) throw new Error('give the host that clients use.')
}
