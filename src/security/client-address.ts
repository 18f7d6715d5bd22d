import { type Cidr, type Ip, isIn, parseCidr, parseIp } from './ip-address.ts'

/** The address of the client behind a connection, as text; `''` when it is not known. */
export type ClientAddress = (remote: string | undefined, forwardedFor: string | undefined) => string

/** How many hops of `X-Forwarded-For` are looked at. */
const hopsMax = 16

/**
 * Tells who is at the other end. `X-Forwarded-For` counts only as far as trusted proxies wrote it: the last address in it that
 * is no trusted proxy is the client's. Everything further left is what the client says of itself.
 * @param trusted CIDRs of proxies. Throws an Error that names a bad one.
 */
export function createClientAddress(trusted: readonly string[]): ClientAddress {
  const proxies = trusted.map(parseEntry)
  const isProxy = (ip: Ip): boolean => proxies.some((cidr) => isIn(cidr, ip))
  if (proxies.length === 0) return (remote) => plain(remote ?? '')
  return (remote, forwardedFor) => {
    let address = plain(remote ?? '')
    const hops = (forwardedFor ?? '').slice(-1_000).split(',').slice(-hopsMax)
    for (;;) {
      const ip = parseIp(address)
      if (!ip || !isProxy(ip)) return address
      const next = plain(hops.pop()?.trim() ?? '')
      if (!parseIp(next)) return address
      address = next
    }
  }
}

/** `127.0.0.1` for `::ffff:127.0.0.1`, which is how a socket of both families names it. */
function plain(address: string): string {
  return /^::ffff:\d+\.\d+\.\d+\.\d+$/i.test(address) ? address.slice(7) : address
}

function parseEntry(entry: string): Cidr {
  const cidr = parseCidr(entry.trim())
  if (cidr) return cidr
  throw new Error(`"${entry}" is not an address range. Write it as a CIDR, e.g. 10.0.0.0/8 or 127.0.0.1.`)
}
