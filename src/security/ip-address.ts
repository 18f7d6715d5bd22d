import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

export type Ip = ipaddr.IPv4 | ipaddr.IPv6
export type Cidr = readonly [base: Ip, bits: number]

/** An IP address in the text forms that node:net dials, without a zone; undefined for everything else. */
export function parseIp(text: string): Ip | undefined {
  const family = text.includes('%') ? 0 : isIP(text)
  if (family === 0) return undefined
  // ipaddr.js reads ::8.8.8.8 as ::ffff:8.8.8.8, which is another address. The URL parser writes both in hexadecimal.
  const dottedV6 = family === 6 && text.includes('.')
  return ipaddr.parse(dottedV6 ? new URL(`http://[${text}]`).hostname.slice(1, -1) : text)
}

/** A CIDR, with or without host bits set, or a single address; undefined for everything else. */
export function parseCidr(text: string): Cidr | undefined {
  const [address = '', bits, ...rest] = text.split('/')
  const base = parseIp(address)
  if (!base || rest.length > 0) return undefined
  if (bits === undefined) return [base, bitsOf(base)]
  return /^(0|[1-9]\d*)$/.test(bits) && Number(bits) <= bitsOf(base) ? [base, Number(bits)] : undefined
}

export function bitsOf(ip: Ip): 32 | 128 {
  return ip.kind() === 'ipv4' ? 32 : 128
}

/** False for different families, for which ipaddr.js would throw. */
export function isIn([base, bits]: Cidr, ip: Ip): boolean {
  return base.kind() === ip.kind() && ip.match(base, bits)
}

/** Identifies a client: the IPv4 address, or the first 64 bits of the IPv6 address. Any other text is returned unchanged. */
export function networkOf(address: string): string {
  const zoneless = address.replace(/%.*$/, '')
  if (!ipaddr.isValid(zoneless)) return address
  const ip = ipaddr.process(zoneless)
  return ip instanceof ipaddr.IPv4
    ? ip.toString()
    : `${ip.parts
        .slice(0, 4)
        .map((part) => part.toString(16))
        .join(':')}::/64`
}
