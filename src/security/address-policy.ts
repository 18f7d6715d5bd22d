import { isIP } from 'node:net'
import { metadataAddresses, type RefusalReason, refusalOf } from './address-ranges.ts'
import { embeddedV4s, isIsatap, mappedV4, translatedV4 } from './embedded-v4.ts'
import { bitsOf, type Cidr, type Ip, isIn, parseCidr, parseIp } from './ip-address.ts'

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
