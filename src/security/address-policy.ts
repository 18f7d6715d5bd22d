import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { metadataAddresses, type RefusalReason, refusalOf } from './address-ranges.ts'
import { bitsOf, type Cidr, type Ip, isIn, parseCidr, parseIp } from './ip-address.ts'

const v4Mapped = parseCidr('::ffff:0:0/96')!

const wellKnownNat64 = parseCidr('64:ff9b::/96')!

const localNat64 = parseCidr('64:ff9b:1::/48')!

const sixToFour = parseCidr('2002::/16')!

const teredo = parseCidr('2001::/32')!

type Verdict = { allowed: true } | { allowed: false; reason: RefusalReason }

export interface AddressPolicy {
  /** Judges an IP address in canonical text, without brackets. Any other text is refused as `unparsable`. */
  check(address: string): Verdict
}

/**
 * Public unicast is allowed; everything else only inside `allow` (CIDRs, or single addresses). Metadata addresses need
 * an entry of exactly their own: a broad range never opens them. Throws an Error that names a bad entry.
 */
export function createAddressPolicy(allow: readonly string[]): AddressPolicy {
  const open = allow.map(parseEntry)
  const exact = new Set(open.filter(([ip, bits]) => bits === bitsOf(ip)).map(([ip]) => ip.toString()))

  function check(address: string): Verdict {
    const scoped = isIP(address) === 6 && address.includes('%')
    const ip = parseIp(scoped ? address.slice(0, address.indexOf('%')) : address)
    if (!ip) return refuse('unparsable')
    if (leadsToMetadata(ip, exact)) return refuse('metadata')

    const target = translatedV4(ip) ?? ip
    // A translated address is allowed by an entry for its IPv4, or by one inside the translating prefix, never by ::/0.
    if (open.some((cidr) => isIn(cidr, target) || (cidr[1] >= 96 && isIn(cidr, ip)))) return { allowed: true }
    const reason = refusalOf(target) ?? (isIsatap(target) ? 'isatap' : undefined)
    if (reason) return refuse(reason)
    // A public address has no zone. A URL with one tries to exploit a parser.
    return scoped ? refuse('scoped') : { allowed: true }
  }

  return { check }
}

/** True when `ip`, or an IPv4 inside it, is a metadata address that no entry names. */
function leadsToMetadata(ip: Ip, exact: ReadonlySet<string>): boolean {
  if (exact.has(ip.toString())) return false
  return [ip, ...embeddedV4s(ip)].map(String).some((face) => metadataAddresses.has(face) && !exact.has(face))
}

function parseEntry(entry: string): Cidr {
  const cidr = parseCidr(entry.trim())
  if (!cidr) throw new Error(`"${entry}" is not an address range. Write it as a CIDR, e.g. 10.0.0.0/8 or fd00::/8.`)
  const [base, bits] = cidr
  const v4 = mappedV4(base)
  return v4 && bits >= 96 ? [v4, bits - 96] : cidr
}

function refuse(reason: RefusalReason): Verdict {
  return { allowed: false, reason }
}

/** The IPv4 address that a v4-mapped address is another spelling of (RFC 4291): the socket dials that IPv4. */
function mappedV4(ip: Ip): ipaddr.IPv4 | undefined {
  return isIn(v4Mapped, ip) ? v4At(ip.toByteArray(), [12, 13, 14, 15]) : undefined
}

/**
 * The IPv4 address that a packet to `ip` ends up at by definition: v4-mapped, or behind the well-known NAT64 prefix
 * (RFC 6052). Such an address deserves the verdict of its IPv4.
 */
function translatedV4(ip: Ip): ipaddr.IPv4 | undefined {
  return isIn(wellKnownNat64, ip) ? v4At(ip.toByteArray(), [12, 13, 14, 15]) : mappedV4(ip)
}

/** True when `ip` carries an ISATAP interface identifier (RFC 5214): a tunnel to an IPv4 under any prefix. */
function isIsatap(ip: Ip): boolean {
  if (ip.kind() === 'ipv4') return false
  const [u, v, w, x] = ip.toByteArray().slice(8, 12)
  return (u === 0x00 || u === 0x02) && v === 0x00 && w === 0x5e && x === 0xfe
}

/**
 * Every IPv4 address that `ip` may lead to through some translator or tunnel. The last 32 bits always count, because a
 * network can run NAT64 under a prefix of its own, which cannot be seen from outside.
 */
function embeddedV4s(ip: Ip): ipaddr.IPv4[] {
  if (ip.kind() === 'ipv4') return []
  const bytes = ip.toByteArray()
  const found = [v4At(bytes, [12, 13, 14, 15])]
  if (isIn(sixToFour, ip)) found.push(v4At(bytes, [2, 3, 4, 5]))
  if (isIn(teredo, ip)) {
    const server = v4At(bytes, [4, 5, 6, 7])
    const client = v4At(
      bytes.map((byte) => byte ^ 0xff),
      [12, 13, 14, 15],
    )
    found.push(server, client)
  }
  // RFC 6052 section 2.2: the places for prefixes of 48, 56 and 64 bits, which skip byte 8.
  if (isIn(localNat64, ip)) {
    found.push(v4At(bytes, [6, 7, 9, 10]), v4At(bytes, [7, 9, 10, 11]), v4At(bytes, [9, 10, 11, 12]))
  }
  return found
}

function v4At(bytes: readonly number[], places: readonly number[]): ipaddr.IPv4 {
  return new ipaddr.IPv4(places.map((place) => bytes[place]!))
}
