import { Problem } from '../../errors.ts'
import { isLoopbackHost } from '../../security/url-guard.ts'
import type { SubscriptionContext } from '../context.ts'

const secretBytes = { min: 24, max: 64 }

/**
 * Requires a URL and a secret that a client of MCP may give: `https`, but where the configuration lets programs of this machine use `http`;
 * no fragment; a secret of Standard Webhooks. Errors: `invalid-request`, `url-not-allowed`. Source: SEP-3415, webhook delivery.
 */
export function requireCallback(
  { checkUrl, allowsHttp }: Pick<SubscriptionContext, 'checkUrl' | 'allowsHttp'>,
  { url, secret }: { readonly url: string; readonly secret: string },
): void {
  if (!isSecret(secret)) {
    throw invalid('secret', `is whsec_ and ${secretBytes.min} to ${secretBytes.max} random bytes in standard base64.`)
  }
  if (!URL.canParse(url)) throw invalid('url', 'is not a valid absolute URL.')
  const { protocol, hostname } = new URL(url)
  if (url.includes('#')) throw invalid('url', 'has a fragment, which is never sent. Leave it out.')
  if (protocol !== 'https:' && !(protocol === 'http:' && allowsHttp && isLoopbackHost(hostname))) {
    throw invalid(
      'url',
      'begins with https://. For a program on the machine of the gateway set ROUSE_MCP_EVENTS_ALLOW_HTTP=loopback.',
    )
  }
  checkUrl(url, 'url')
}

function isSecret(secret: string): boolean {
  const encoded = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret)?.[1]
  if (encoded === undefined || encoded.length % 4 !== 0) return false
  const { length } = Buffer.from(encoded, 'base64')
  return length >= secretBytes.min && length <= secretBytes.max
}

function invalid(field: string, flaw: string): Problem {
  return new Problem('invalid-request', { field, detail: `${field}: ${flaw}` })
}
