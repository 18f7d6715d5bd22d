import ipaddr from 'ipaddr.js'
import { type Ip, isIn, parseCidr } from './ip-address.ts'

/** The IPv4 address that a v4-mapped address is another spelling of (RFC 4291): the socket dials that IPv4. */
export function mappedV4(ip: Ip): ipaddr.IPv4 | undefined {
  return isIn(v4Mapped, ip) ? v4At(ip.toByteArray(), [12, 13, 14, 15]) : undefined
}

/**
 * The IPv4 address that a packet to `ip` ends up at by definition: v4-mapped, or behind the well-known NAT64 prefix
 * (RFC 6052). Such an address deserves the verdict of its IPv4.
 */
export function translatedV4(ip: Ip): ipaddr.IPv4 | undefined {
  return isIn(wellKnownNat64, ip) ? v4At(ip.toByteArray(), [12, 13, 14, 15]) : mappedV4(ip)
}

/** Whether `ip` carries an ISATAP interface identifier (RFC 5214): a tunnel to an IPv4 under any prefix. */
export function isIsatap(ip: Ip): boolean {
  if (ip.kind() === 'ipv4') return false
  const [u, v, w, x] = ip.toByteArray().slice(8, 12)
  return (u === 0x00 || u === 0x02) && v === 0x00 && w === 0x5e && x === 0xfe
}

/**
 * Every IPv4 address that `ip` may lead to through some translator or tunnel. The last 32 bits always count, because a
 * network can run NAT64 under a prefix of its own, which cannot be seen from outside.
 */
export function embeddedV4s(ip: Ip): ipaddr.IPv4[] {
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

const v4Mapped = parseCidr('::ffff:0:0/96')!
const wellKnownNat64 = parseCidr('64:ff9b::/96')!
const localNat64 = parseCidr('64:ff9b:1::/48')!
const sixToFour = parseCidr('2002::/16')!
const teredo = parseCidr('2001::/32')!

function v4At(bytes: readonly number[], places: readonly number[]): ipaddr.IPv4 {
  return new ipaddr.IPv4(places.map((place) => bytes[place]!))
}
