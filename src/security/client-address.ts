import { type Cidr, type Ip, isIn, parseCidr, parseIp } from './ip-address.ts'

/** The client's address of a connection, as text; `''`: it is not known. */
export type ClientAddress = (remote: string | undefined, forwardedFor: string | undefined) => string

/** Number of `X-Forwarded-For` hops that are read. */
const hopsMax = 16

/**
 * Finds the client's address of a request. `X-Forwarded-For` counts only as far as trusted proxies wrote it: its last address that
 * is not a trusted proxy is the client's. Addresses further left are the client's own claim.
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
